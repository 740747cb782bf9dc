package database

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"kuhnya/batch"
)

var classes = []error{ErrBusy, ErrUnavailable, ErrConstraint, ErrAgain}

// TestClassify: the driver returns primary codes, extended codes and full errors; all of them are told apart by code.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		class error // nil for a fault in the program
		codes []error
	}{
		{ErrBusy, []error{
			sqlite3.BUSY, sqlite3.BUSY_SNAPSHOT, sqlite3.BUSY_TIMEOUT, sqlite3.BUSY_RECOVERY, sqlite3.LOCKED, sqlite3.LOCKED_SHAREDCACHE,
		}},
		{ErrUnavailable, []error{
			sqlite3.FULL, sqlite3.IOERR, sqlite3.IOERR_WRITE, sqlite3.IOERR_FSYNC, sqlite3.IOERR_SHMSIZE, sqlite3.IOERR_NOMEM,
			sqlite3.CANTOPEN, sqlite3.CANTOPEN_FULLPATH, sqlite3.READONLY, sqlite3.READONLY_DBMOVED, sqlite3.NOMEM, sqlite3.CORRUPT,
			sqlite3.CORRUPT_INDEX, sqlite3.NOTADB, sqlite3.PERM, sqlite3.AUTH, sqlite3.PROTOCOL, sqlite3.ABORT_ROLLBACK, sqlite3.INTERRUPT,
		}},
		{ErrConstraint, []error{
			sqlite3.CONSTRAINT, sqlite3.CONSTRAINT_UNIQUE, sqlite3.CONSTRAINT_CHECK, sqlite3.CONSTRAINT_FOREIGNKEY,
			sqlite3.CONSTRAINT_NOTNULL, sqlite3.CONSTRAINT_PRIMARYKEY, sqlite3.CONSTRAINT_DATATYPE, sqlite3.TOOBIG,
			sqlite3.MISMATCH, sqlite3.RANGE,
		}},
		{nil, []error{sqlite3.ERROR, sqlite3.MISUSE, sqlite3.SCHEMA, sqlite3.INTERNAL, errors.New("other")}},
	} {
		for _, code := range c.codes {
			for _, err := range []error{code, fmt.Errorf("insert: %w", code)} {
				got := classify(err)
				if !errors.Is(got, code) {
					t.Errorf("%v lost its cause", got)
				}
				for _, class := range classes {
					if is := errors.Is(got, class); is != (class == c.class) {
						t.Errorf("%v is %q: %v", code, class, is)
					}
				}
			}
		}
	}
	if classify(nil) != nil {
		t.Error("no error became one")
	}
}

func TestClasses_of_errors(t *testing.T) {
	for _, c := range []struct {
		err       error
		transient bool
		class     batch.Class
	}{
		{ErrBusy, true, batch.Busy},
		{ErrAgain, true, batch.Again},
		{ErrUnavailable, true, batch.Failed},
		{ErrConstraint, false, batch.Single},
		{errors.New("other"), false, batch.Single},
		{context.DeadlineExceeded, false, batch.Failed},
	} {
		err := fmt.Errorf("insert: %w", c.err)
		if got := Transient(err); got != c.transient {
			t.Errorf("%v: transient %v", err, got)
		}
		if got := BatchClass(err); got != c.class {
			t.Errorf("%v: batch class %v, want %v", err, got, c.class)
		}
	}
}
