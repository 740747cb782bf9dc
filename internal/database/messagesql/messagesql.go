// Package messagesql is the tables that every service has for its messages: the outbox with its lease and parked rows,
// and the dead letters. It passes outboxtest and consumetest, and holds no rules.
package messagesql

import (
	"embed"

	"github.com/go-json-experiment/json"

	"kuhnya/internal/database"
	"kuhnya/outbox"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the line that creates these tables.
func Migrations() database.Line { return database.Embedded("messages", files) }

// header is how one is kept: in JSON, with name and value in base 64. Both may be any bytes (a stranger's record names
// its headers as it likes, and a dead letter that can't be saved would hold its partition up without end), and an absent
// value is null: a broker tells it from an empty one.
type header struct {
	Name  []byte `json:"name"`
	Value []byte `json:"value"`
}

func encodeHeaders(headers []outbox.Header) ([]byte, error) {
	kept := make([]header, len(headers))
	for i, h := range headers {
		kept[i] = header{[]byte(h.Key), h.Value}
	}
	return json.Marshal(kept, json.FormatNilSliceAsNull(true))
}

func decodeHeaders(encoded []byte) ([]outbox.Header, error) {
	var kept []header
	if err := json.Unmarshal(encoded, &kept); err != nil {
		return nil, err
	}
	headers := make([]outbox.Header, len(kept))
	for i, h := range kept {
		headers[i] = outbox.Header{Key: string(h.Name), Value: h.Value}
	}
	return headers, nil
}
