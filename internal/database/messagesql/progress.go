package messagesql

import (
	"context"

	"kuhnya/internal/database"
)

// Progress tells whether the messages of a database have moved in between two looks at which no row was waiting: if it is
// equal twice, nothing was appended, sent or parked, and the same dead letters are open or discarded. Every number but
// Waiting only grows: ids of the outbox are never given again, and a dead letter is never deleted nor un-redriven.
type Progress struct {
	Appended    int64 // rows that the outbox ever had
	Waiting     int64 // rows that it has
	Parked      int64
	DeadLetters int64
	Redriven    int64 // of the dead letters
}

// ReadProgress reads the progress of a database's messages in one snapshot.
func ReadProgress(ctx context.Context, db *database.SQLite) (p Progress, err error) {
	err = db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`SELECT (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'outbox'), (SELECT count(*) FROM outbox),
			(SELECT count(*) FROM outbox_parked), (SELECT count(*) FROM dead_letters),
			(SELECT count(*) FROM dead_letters WHERE state = 'redriven')`,
			func(r database.Row) error {
				p = Progress{Appended: r.Int(0), Waiting: r.Int(1), Parked: r.Int(2), DeadLetters: r.Int(3), Redriven: r.Int(4)}
				return nil
			})
	})
	return p, err
}
