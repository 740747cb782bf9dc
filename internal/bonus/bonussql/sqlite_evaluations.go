package bonussql

import (
	"github.com/google/uuid"

	"kuhnya/internal/bonus"
)

// InsertEvaluations implements [bonus.EvaluatingTx].
func (t sqliteTx) InsertEvaluations(evaluations []bonus.Evaluation) (inserted []uuid.UUID, err error) {
	for _, e := range evaluations {
		err := t.Exec(`INSERT INTO evaluations (order_id, user_id, total, currency, placed_at, evaluated_at)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			e.OrderID, e.UserID, e.Total.Amount, e.Total.Currency, e.PlacedAt, e.EvaluatedAt)
		if err != nil {
			return nil, err
		}
		if t.Changed() == 1 {
			inserted = append(inserted, e.OrderID)
		}
	}
	return inserted, nil
}

// InsertEvaluationLines implements [bonus.EvaluatingTx].
func (t sqliteTx) InsertEvaluationLines(evaluations []bonus.Evaluation) error {
	for _, e := range evaluations {
		for _, line := range e.Lines {
			err := t.Exec(`INSERT INTO evaluation_lines (order_id, campaign_id, version, points) VALUES (?, ?, ?, ?)`,
				e.OrderID, line.CampaignID, line.Version, line.Points)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
