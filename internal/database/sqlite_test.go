package database_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"kuhnya/internal/database"
)

func TestSQLite_waits_for_a_connection_as_long_as_the_context(t *testing.T) {
	db := fresh(t)
	nothing := func(*database.Conn) error { return nil }
	must(t, db.Write(t.Context(), func(*database.Conn) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		mustBe(t, db.Write(ctx, nothing), context.DeadlineExceeded)
		return nil
	}))
	for range 20 { // chance must not decide what an ended context does with a free connection
		mustBe(t, db.Write(ended(), nothing), context.Canceled)
		mustBe(t, db.Read(ended(), nothing), context.Canceled)
	}
	must(t, db.Write(t.Context(), nothing))
}

// withReaders runs f while as many connections are reading, each in turn given to each.
func withReaders(t *testing.T, db *database.SQLite, n int, each func(*database.Conn), f func()) {
	t.Helper()
	if n == 0 {
		f()
		return
	}
	must(t, db.Read(t.Context(), func(c *database.Conn) error {
		each(c)
		withReaders(t, db, n-1, each, f)
		return nil
	}))
}

const readers = 4

func TestSQLite_configures_every_connection(t *testing.T) {
	db := fresh(t)
	check := func(c *database.Conn) {
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "2000", "wal_autocheckpoint": "16000",
		} {
			must(t, c.Query("PRAGMA "+pragma, func(r database.Row) error {
				if got := r.Text(0); got != want {
					t.Errorf("%s is %s, want %s", pragma, got, want)
				}
				return nil
			}))
		}
	}
	withReaders(t, db, readers, check, func() {
		must(t, db.Write(t.Context(), func(c *database.Conn) error {
			check(c)
			return nil
		}))
	})
}

func TestRead_bounds_its_connections(t *testing.T) {
	db := fresh(t)
	withReaders(t, db, readers, func(*database.Conn) {}, func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		mustBe(t, db.Read(ctx, func(*database.Conn) error { return nil }), context.DeadlineExceeded)
	})
	content(t, db)
}

func TestRead_sees_one_snapshot(t *testing.T) {
	db := fresh(t)
	must(t, db.Write(t.Context(), insert(1)))
	count := func(c *database.Conn) (n int64) {
		must(t, c.Query(`SELECT count(*) FROM numbers`, func(r database.Row) error {
			n = r.Int(0)
			return nil
		}))
		return n
	}
	must(t, db.Read(t.Context(), func(c *database.Conn) error {
		before := count(c)
		must(t, db.Write(t.Context(), insert(2)))
		if after := count(c); before != 1 || after != 1 {
			t.Errorf("%d rows, then %d, want 1 both times", before, after)
		}
		return nil
	}))
	if n := len(content(t, db)); n != 2 {
		t.Errorf("%d rows afterwards, want 2", n)
	}
}

func TestRead_refuses_to_write(t *testing.T) {
	db := fresh(t)
	if err := db.Read(t.Context(), insert(1)); err == nil {
		t.Error("a read wrote past the queue of writers")
	}
	if got := content(t, db); got != nil {
		t.Errorf("rows %v", got)
	}
}

func TestRead_ends_with_its_context(t *testing.T) {
	db := fresh(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := db.Read(ctx, func(c *database.Conn) error {
		return c.Query(`WITH RECURSIVE endless (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM endless) SELECT count(*) FROM endless`, nil)
	})
	mustBe(t, err, context.DeadlineExceeded)
	if database.Transient(err) {
		t.Errorf("%v is blamed on the database", err)
	}
	withReaders(t, db, readers, func(c *database.Conn) { must(t, c.Query(`SELECT n FROM numbers`, nil)) }, func() {})
}

func TestClose(t *testing.T) {
	t.Run("waits_for_what_runs_and_refuses_what_comes", func(t *testing.T) {
		db, err := database.OpenSQLite(newFile(t, numbers()))
		must(t, err)
		closed := make(chan error, 1)
		must(t, db.Read(t.Context(), func(c *database.Conn) error {
			return db.Write(t.Context(), func(w *database.Conn) error {
				go func() { closed <- db.Close() }()
				must(t, insert(1)(w))
				return c.Query(`SELECT n FROM numbers`, nil)
			})
		}))
		must(t, <-closed)
		mustBe(t, db.Write(t.Context(), insert(2)), database.ErrUnavailable)
		mustBe(t, db.Read(t.Context(), insert(2)), database.ErrUnavailable)
		must(t, db.Close())
	})
	t.Run("races_with_readers_and_writers", func(t *testing.T) {
		path := newFile(t, numbers())
		db, err := database.OpenSQLite(path)
		must(t, err)
		results := make(chan error, 40)
		var all sync.WaitGroup
		for i := range cap(results) {
			all.Go(func() {
				if i%2 == 0 {
					results <- db.Write(t.Context(), insert(1))
					return
				}
				results <- db.Read(t.Context(), func(c *database.Conn) error { return c.Query(`SELECT n FROM numbers`, nil) })
			})
		}
		for range 2 {
			all.Go(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		close(results)
		for err := range results {
			if err != nil && !errors.Is(err, database.ErrUnavailable) {
				t.Error(err)
			}
		}
	})
}

func TestOpenSQLite_without_its_folder_is_unavailable(t *testing.T) {
	_, err := database.OpenSQLite(fmt.Sprintf("%s/none/test.db", t.TempDir()))
	mustBe(t, err, database.ErrUnavailable)
}
