// Package messagesql is the tables that every service has for its messages: the outbox with its lease and parked rows,
// and the dead letters. It passes outboxtest and consumetest, and holds no rules.
package messagesql

import (
	"embed"
	"io/fs"

	"github.com/go-json-experiment/json"

	"kuhnya/internal/database"
	"kuhnya/outbox"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the line that creates these tables.
func Migrations() database.Line {
	root, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return database.Line{Name: "messages", Files: root}
}

// Headers are kept as JSON in which an absent value is null: a broker tells it from an empty one.
func encodeHeaders(headers []outbox.Header) ([]byte, error) {
	return json.Marshal(headers, json.FormatNilSliceAsNull(true))
}

func decodeHeaders(encoded []byte) (headers []outbox.Header, err error) {
	err = json.Unmarshal(encoded, &headers)
	return headers, err
}
