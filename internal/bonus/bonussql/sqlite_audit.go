package bonussql

import (
	"context"
	"fmt"

	"kuhnya/internal/audit"
	"kuhnya/internal/bonus"
	"kuhnya/internal/database"
)

// report notes a violation.
type report func(invariant int, subject, format string, args ...any)

// Violations checks bonus's own invariants in one snapshot, under live traffic or not.
func (s SQLite) Violations(ctx context.Context) (violations []audit.Violation, err error) {
	found := func(invariant int, subject, format string, args ...any) {
		violations = append(violations, audit.Violation{Invariant: invariant, Subject: subject, Detail: fmt.Sprintf(format, args...)})
	}
	err = s.db.Read(ctx, func(c *database.Conn) error {
		for _, check := range []func(*database.Conn, report) error{
			checkBusinessKeys, checkAccruals, checkEvaluationLines,
			checkAccrued, checkTransactions, checkEntries, checkBalances, checkAnswers,
		} {
			if err := check(c, found); err != nil {
				return err
			}
		}
		return nil
	})
	return violations, err
}

func checkBusinessKeys(c *database.Conn, found report) error {
	return c.Query(`
		SELECT order_id, campaign_id, user_id, count(*) FROM accruals
		GROUP BY user_id, campaign_id, order_id HAVING count(*) > 1`,
		func(r database.Row) error {
			found(audit.Accrual, "order "+r.UUID(0).String(), "campaign %s accrued %d times for it and user %s", r.UUID(1), r.Int(3), r.Text(2))
			return nil
		})
}

// checkAccruals: what came of the record of a completed order is in that order's evaluation.
func checkAccruals(c *database.Conn, found report) error {
	return c.Query(`
		SELECT a.id, a.order_id, a.user_id, a.points, a.origin, e.user_id, l.points
		FROM accruals a
		LEFT JOIN evaluations e ON e.order_id = a.order_id
		LEFT JOIN evaluation_lines l ON l.order_id = a.order_id AND l.campaign_id = a.campaign_id
		WHERE a.origin <> 'api' AND (a.origin <> 'event' OR e.user_id IS NOT a.user_id OR l.points IS NOT a.points)`,
		func(r database.Row) error {
			subject, order := "accrual "+r.UUID(0).String(), r.UUID(1)
			switch user, origin := r.Text(2), bonus.Origin(r.Text(4)); {
			case origin != bonus.FromEvent:
				found(audit.Accrual, subject, "has the unknown origin %q", origin)
			case r.Null(5):
				found(audit.Accrual, subject, "is for order %s, which was not evaluated", order)
			case r.Text(5) != user:
				found(audit.Accrual, subject, "is for order %s and user %s, but that order was evaluated for %s", order, user, r.Text(5))
			case r.Null(6):
				found(audit.Accrual, subject, "is for order %s, whose evaluation does not have its campaign", order)
			default:
				found(audit.Accrual, subject, "is %d points for order %s, whose evaluation says %d", r.Int(3), order, r.Int(6))
			}
			return nil
		})
}

// checkEvaluationLines: what an order earned was accrued. That may be what a client asked for, with other points; the
// points of what came of a record are compared by checkAccruals.
func checkEvaluationLines(c *database.Conn, found report) error {
	return c.Query(`
		SELECT l.order_id, l.campaign_id, l.points
		FROM evaluation_lines l LEFT JOIN evaluations e ON e.order_id = l.order_id
		WHERE l.points > 0 AND NOT EXISTS (SELECT 1 FROM accruals a
			WHERE a.user_id = e.user_id AND a.campaign_id = l.campaign_id AND a.order_id = l.order_id)`,
		func(r database.Row) error {
			found(audit.Accrual, "order "+r.UUID(0).String(), "earned %d points by campaign %s, but nothing was accrued", r.Int(2), r.UUID(1))
			return nil
		})
}
