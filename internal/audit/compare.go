package audit

import (
	"fmt"

	"kuhnya/internal/lifecycle"
)

// Compare checks what ties the services together at rest: every order has a ticket with its status, every step that was
// sent is in its order's history, and completed orders, and only these, were evaluated, as what they are. Where an order
// is excused that is passed over. What was accrued for the record of an order belongs to an order that is completed, of
// the same user; no message that was lost explains points that nobody earned, so for that there is no excuse.
//
// Each sequence is read once and no more than an order of each is kept.
func Compare(f Facts) (violations []Violation, err error) {
	err = f.tell(func(s story) {
		unearned := s.checkEarnings()
		violations = append(violations, unearned...)
		if f.Excused[s.id] {
			return
		}
		violations = append(violations, s.checkTicket()...)
		violations = append(violations, s.checkSteps()...)
		if len(unearned) == 0 { // else all is said
			violations = append(violations, s.checkEvaluation()...)
		}
	})
	return violations, err
}

func (s story) checkEarnings() (violations []Violation) {
	for _, e := range s.earnings {
		about := Violation{Accrual, "accrual " + e.Accrual.String(), "is for order " + s.id.String()}
		switch {
		case s.order == nil:
			about.Detail += ", which does not exist"
		case !s.order.completed():
			about.Detail += ", which is " + s.order.Status.name()
		case s.order.User != e.User:
			about.Detail += fmt.Sprintf(" of user %s, but went to user %s", s.order.User, e.User)
		default:
			continue
		}
		violations = append(violations, about)
	}
	return violations
}

func (s story) checkTicket() []Violation {
	switch visible := s.ticket != nil && !s.ticket.Hidden; {
	case s.order == nil && visible:
		return s.report("has a ticket but does not exist")
	case s.order != nil && !visible:
		return s.report("has no ticket")
	case s.order != nil && s.order.Status != s.ticket.Status:
		return s.report("is %s, its ticket %s", s.order.Status.name(), s.ticket.Status.name())
	}
	return nil
}

func (s story) checkSteps() (violations []Violation) {
	if s.ticket == nil {
		return nil
	}
	missing := s.ticket.Sent
	if s.order != nil {
		missing &^= s.order.Entered
	}
	for _, step := range missing.list() {
		violations = append(violations, s.report("never entered %s, though that step was sent", step)...)
	}
	return violations
}

func (s story) checkEvaluation() []Violation {
	switch completed := s.order != nil && s.order.completed(); {
	case completed && s.evaluation == nil:
		return s.report("is completed, but was not evaluated")
	case s.evaluation == nil:
		return nil
	case s.order == nil:
		return s.report("was evaluated but does not exist")
	case !completed:
		return s.report("was evaluated, but is %s", s.order.Status.name())
	case s.order.User != s.evaluation.User:
		return s.report("is of user %s, but was evaluated for user %s", s.order.User, s.evaluation.User)
	case s.order.Total != s.evaluation.Total:
		return s.report("has a total of %d %s, but was evaluated by %d %s",
			s.order.Total.Amount, s.order.Total.Currency, s.evaluation.Total.Amount, s.evaluation.Total.Currency)
	}
	return nil
}

// report is one violation, about the order.
func (s story) report(format string, args ...any) []Violation {
	return []Violation{{Projection, "order " + s.id.String(), fmt.Sprintf(format, args...)}}
}

func (o Order) completed() bool { return o.Status == SetOf(lifecycle.Completed) }
