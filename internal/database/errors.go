package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"kuhnya/batch"
)

// The classes of an engine's errors. An error that is none of them is a fault in the program.
var (
	// ErrBusy says that another process holds the write lock; nothing was done.
	ErrBusy = errors.New("database busy")
	// ErrUnavailable says that the storage failed (full disk, I/O, closed connection); nothing was done.
	ErrUnavailable = errors.New("database unavailable")
	// ErrConstraint says that a row broke a rule of the schema.
	ErrConstraint = errors.New("constraint violated")
	// ErrAgain says that a rival transaction won and the same work may simply be done again.
	ErrAgain = errors.New("lost against a rival transaction")
)

var sqliteClasses = []struct {
	class error
	codes []sqlite3.ErrorCode
}{
	{ErrBusy, []sqlite3.ErrorCode{sqlite3.BUSY, sqlite3.LOCKED}},
	{ErrConstraint, []sqlite3.ErrorCode{sqlite3.CONSTRAINT, sqlite3.TOOBIG, sqlite3.MISMATCH, sqlite3.RANGE}},
	{ErrUnavailable, []sqlite3.ErrorCode{
		sqlite3.FULL, sqlite3.IOERR, sqlite3.CANTOPEN, sqlite3.READONLY, sqlite3.NOMEM, sqlite3.INTERRUPT,
		sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.PERM, sqlite3.AUTH, sqlite3.PROTOCOL, sqlite3.ABORT,
	}},
}

// classify wraps an error of SQLite with its class. The driver returns bare codes as well as full errors, so codes are
// compared, never types.
func classify(err error) error {
	if err == nil {
		return nil
	}
	for _, c := range sqliteClasses {
		for _, code := range c.codes {
			if errors.Is(err, code) {
				return fmt.Errorf("%w: %w", c.class, err)
			}
		}
	}
	return err
}

// Transient says that the same work may succeed later, unchanged.
func Transient(err error) bool {
	return errors.Is(err, ErrBusy) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrAgain)
}

// BatchClass tells a [batch.Group] what an error of its transaction means. What nobody foresaw counts as the doing of
// one request, so that it can't harm its neighbours: a row that can't be read, or a fault in a rule.
func BatchClass(err error) batch.Class {
	switch {
	case errors.Is(err, ErrAgain):
		return batch.Again
	case errors.Is(err, ErrBusy):
		return batch.Busy
	case errors.Is(err, ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return batch.Failed
	default:
		return batch.Single
	}
}
