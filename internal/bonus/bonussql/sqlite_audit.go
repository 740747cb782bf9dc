package bonussql

import (
	"context"
	"fmt"
	"iter"

	"kuhnya/internal/audit"
	"kuhnya/internal/bonus"
	"kuhnya/internal/database"
	"kuhnya/internal/money"
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

// AuditEvaluations reads what the comparison with orders needs, in one snapshot, by the id of the order.
func (s SQLite) AuditEvaluations(ctx context.Context) iter.Seq2[audit.Evaluation, error] {
	return database.Rows(ctx, s.db, func(r database.Row) audit.Evaluation {
		return audit.Evaluation{ID: r.UUID(0), User: r.Text(1), Total: money.Money{Amount: r.Int(2), Currency: r.Text(3)}}
	}, `SELECT order_id, user_id, total, currency FROM evaluations ORDER BY order_id`)
}

// AuditEarnings reads the accruals that came of records of orders, in one snapshot, by the id of the order.
func (s SQLite) AuditEarnings(ctx context.Context) iter.Seq2[audit.Earning, error] {
	return database.Rows(ctx, s.db, func(r database.Row) audit.Earning {
		return audit.Earning{ID: r.UUID(0), Accrual: r.UUID(1), User: r.Text(2)}
	}, `SELECT order_id, id, user_id FROM accruals WHERE origin = 'event' ORDER BY order_id`)
}

// Progress tells whether bonus has changed in between two looks: whatever is done there adds a row to one of these, and
// none is ever changed or deleted, so if it is equal twice, nothing was done.
type Progress struct{ Versions, Evaluations, Accruals, Answers int64 }

// AuditProgress reads the progress of campaigns and accruals.
func (s SQLite) AuditProgress(ctx context.Context) (p Progress, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT (SELECT count(*) FROM campaign_versions), (SELECT count(*) FROM evaluations),
			(SELECT count(*) FROM accruals), (SELECT count(*) FROM accrual_answers)`, func(r database.Row) error {
			p = Progress{Versions: r.Int(0), Evaluations: r.Int(1), Accruals: r.Int(2), Answers: r.Int(3)}
			return nil
		})
	})
	return p, err
}
