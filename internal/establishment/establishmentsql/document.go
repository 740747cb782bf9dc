package establishmentsql

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"kuhnya/internal/establishment"
	"kuhnya/internal/lifecycle"
)

// line is a ticket's line as it is stored.
type line struct {
	DishID    uuid.UUID `json:"dish_id"`
	Name      string    `json:"name"`
	Quantity  int64     `json:"quantity"`
	UnitPrice int64     `json:"unit_price"`
	Total     int64     `json:"total"`
}

// encodeDocuments returns the members of a ticket that are stored as JSON.
func encodeDocuments(t establishment.Ticket) (lines, entered []byte, err error) {
	stored := make([]line, len(t.Lines))
	for i, l := range t.Lines {
		stored[i] = line(l)
	}
	if lines, err = json.Marshal(stored); err != nil {
		return nil, nil, fmt.Errorf("encode lines of ticket %s: %w", t.OrderID, err)
	}
	if entered, err = json.Marshal(t.Entered); err != nil {
		return nil, nil, fmt.Errorf("encode statuses of ticket %s: %w", t.OrderID, err)
	}
	return lines, entered, nil
}

func decodeLines(document []byte) ([]establishment.Line, error) {
	var stored []line
	if err := json.Unmarshal(document, &stored); err != nil {
		return nil, fmt.Errorf("decode lines: %w", err)
	}
	lines := make([]establishment.Line, len(stored))
	for i, l := range stored {
		lines[i] = establishment.Line(l)
	}
	return lines, nil
}

func decodeEntered(document []byte) (entered []lifecycle.Status, err error) {
	if err := json.Unmarshal(document, &entered); err != nil {
		return nil, fmt.Errorf("decode statuses: %w", err)
	}
	return entered, nil
}
