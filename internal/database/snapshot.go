package database

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Freeze runs f while nobody writes to any of the databases, in whatever process. Writers wait, and reads go on. It waits
// its turn for the locks until ctx ends.
func Freeze(ctx context.Context, databases []*SQLite, f func() error) error {
	if len(databases) == 0 {
		return f()
	}
	var failure error
	for {
		err := databases[0].Write(ctx, func(*Conn) error {
			failure = Freeze(ctx, databases[1:], f)
			return nil
		})
		if !errors.Is(err, ErrBusy) || ctx.Err() != nil {
			return errors.Join(err, failure)
		}
	}
}

// Snapshot is a database as it was at a moment, whatever is written to it afterwards. It is to be closed soon: what is
// written meanwhile stays in the WAL.
type Snapshot struct {
	name string
	conn *Conn
}

// Snapshot takes a snapshot of the database as it is now.
func (db *SQLite) Snapshot() (*Snapshot, error) {
	conn, err := openReader(db.path)
	if err != nil {
		return nil, err
	}
	for _, statement := range []string{"BEGIN", "SELECT 1 FROM sqlite_schema"} { // it is the first read that takes it
		if err := conn.Exec(statement); err != nil {
			return nil, errors.Join(err, conn.close())
		}
	}
	return &Snapshot{filepath.Base(db.path), conn}, nil
}

// Copy makes a database file of the snapshot, which is on disk when it returns.
func (s *Snapshot) Copy(path string) error {
	if err := s.conn.raw.Backup("main", fileURI(path)); err != nil {
		return fmt.Errorf("copy %s: %w", s.name, classify(err))
	}
	return nil
}

// Close gives the snapshot up.
func (s *Snapshot) Close() error { return s.conn.close() }
