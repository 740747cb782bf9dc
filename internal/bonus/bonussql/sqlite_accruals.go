package bonussql

import (
	"context"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/bonus"
	"kuhnya/internal/database"
)

const accrualColumns = `a.id, a.user_id, a.campaign_id, a.order_id, a.points, a.origin, a.created_at`

// scanAccrual reads accrualColumns from column i on.
func scanAccrual(r database.Row, i int) bonus.Accrual {
	return bonus.Accrual{
		ID:          r.UUID(i),
		BusinessKey: bonus.BusinessKey{UserID: r.Text(i + 1), CampaignID: r.UUID(i + 2), OrderID: r.UUID(i + 3)},
		Points:      r.Int(i + 4), Origin: bonus.Origin(r.Text(i + 5)), CreatedAt: r.Time(i + 6),
	}
}

// AccrualsByBusinessKey implements [bonus.AccruingTx].
func (t sqliteTx) AccrualsByBusinessKey(keys []bonus.BusinessKey) (map[bonus.BusinessKey]bonus.Accrual, error) {
	found := map[bonus.BusinessKey]bonus.Accrual{}
	for _, key := range keys {
		err := t.Query(`SELECT `+accrualColumns+` FROM accruals a WHERE user_id = ? AND campaign_id = ? AND order_id = ?`,
			func(r database.Row) error {
				found[key] = scanAccrual(r, 0)
				return nil
			}, key.UserID, key.CampaignID, key.OrderID)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// InsertAccruals implements [bonus.AccruingTx].
func (t sqliteTx) InsertAccruals(accruals []bonus.Accrual) (inserted []uuid.UUID, err error) {
	for _, a := range accruals {
		err := t.Exec(`INSERT INTO accruals (id, user_id, campaign_id, order_id, points, origin, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			a.ID, a.UserID, a.CampaignID, a.OrderID, a.Points, string(a.Origin), a.CreatedAt)
		if err != nil {
			return nil, err
		}
		if t.Changed() == 1 {
			inserted = append(inserted, a.ID)
		}
	}
	return inserted, nil
}

// AnswersByKey implements [bonus.AccruingTx].
func (t sqliteTx) AnswersByKey(keys []bonus.CallerKey) (map[bonus.CallerKey]bonus.Answer, error) {
	found := map[bonus.CallerKey]bonus.Answer{}
	for _, key := range keys {
		answer, known, err := answerByKey(t.Conn, key)
		if err != nil {
			return nil, err
		}
		if known {
			found[key] = answer
		}
	}
	return found, nil
}

func answerByKey(c *database.Conn, key bonus.CallerKey) (answer bonus.Answer, found bool, err error) {
	err = c.Query(`SELECT command_fingerprint, accrual_id, status, body, created_at FROM accrual_answers
			WHERE caller = ? AND idempotency_key = ?`,
		func(r database.Row) (err error) {
			found = true
			answer = bonus.Answer{
				CallerKey: key, AccrualID: r.UUID(1), Status: int(r.Int(2)), Body: r.Blob(3), CreatedAt: r.Time(4),
			}
			answer.Command, err = idempotency.ParseFingerprint(r.Blob(0))
			return err
		}, key.Caller, string(key.Key))
	return answer, found, err
}

// InsertAnswers implements [bonus.AccruingTx].
func (t sqliteTx) InsertAnswers(answers []bonus.Answer) (inserted []bonus.CallerKey, err error) {
	for _, a := range answers {
		err := t.Exec(`INSERT INTO accrual_answers (caller, idempotency_key, command_fingerprint, accrual_id, status, body, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			a.Caller, string(a.Key), a.Command.Bytes(), a.AccrualID, a.Status, a.Body, a.CreatedAt)
		if err != nil {
			return nil, err
		}
		if t.Changed() == 1 {
			inserted = append(inserted, a.CallerKey)
		}
	}
	return inserted, nil
}

// Answer implements [bonus.Reader].
func (s SQLite) Answer(ctx context.Context, key bonus.CallerKey) (answer bonus.Answer, found bool, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) (err error) {
		answer, found, err = answerByKey(c, key)
		return err
	})
	return answer, found, err
}
