package database_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/database"
)

func TestWrite(t *testing.T) {
	errMine := errors.New("mine")
	for name, failing := range map[string]func(*testing.T, *database.SQLite){
		"an_error_leaves_nothing": func(t *testing.T, db *database.SQLite) {
			mustBe(t, db.Write(t.Context(), func(c *database.Conn) error {
				must(t, insert(2)(c))
				return errMine
			}), errMine)
		},
		"a_broken_rule_leaves_nothing": func(t *testing.T, db *database.SQLite) {
			mustBe(t, db.Write(t.Context(), func(c *database.Conn) error {
				must(t, insert(2)(c))
				return insert(1000)(c)
			}), database.ErrConstraint)
		},
		"an_error_of_a_row_leaves_nothing": func(t *testing.T, db *database.SQLite) {
			mustBe(t, db.Write(t.Context(), func(c *database.Conn) error {
				return c.Query(`INSERT INTO numbers (n) VALUES (2), (3) RETURNING n`, func(database.Row) error { return errMine })
			}), errMine)
		},
		"a_panic_leaves_nothing": func(t *testing.T, db *database.SQLite) {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = db.Write(t.Context(), func(c *database.Conn) error {
				must(t, insert(2)(c))
				return c.Query(`SELECT n FROM numbers`, func(database.Row) error { panic("mine") })
			})
		},
		"a_failed_commit_leaves_nothing": func(t *testing.T, db *database.SQLite) {
			mustBe(t, db.Write(t.Context(), func(c *database.Conn) error {
				must(t, c.Exec(`PRAGMA defer_foreign_keys = ON`))
				must(t, c.Exec(`CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT`))
				must(t, c.Exec(`CREATE TABLE children (parent INTEGER REFERENCES parents) STRICT`))
				return c.Exec(`INSERT INTO children VALUES (1)`)
			}), database.ErrConstraint)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := fresh(t)
			must(t, db.Write(t.Context(), insert(1)))
			failing(t, db)
			must(t, db.Write(t.Context(), insert(4)))
			if diff := cmp.Diff([]int64{1, 4}, content(t, db)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWrite_reads_what_nobody_can_change: two processes that read and then write lose no update.
func TestWrite_reads_what_nobody_can_change(t *testing.T) {
	path := newFile(t, numbers())
	handles := []*database.SQLite{open(t, path), open(t, path)}
	must(t, handles[0].Write(t.Context(), insert(0)))
	const workers, times = 4, 10
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for range times {
				if err := increment(t.Context(), handles[i%len(handles)]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff([]int64{workers * times}, content(t, handles[0])); diff != "" {
		t.Errorf("count (-want +got):\n%s", diff)
	}
}

// increment tries again while others keep the lock for longer than the engine waits.
func increment(ctx context.Context, db *database.SQLite) error {
	for {
		err := db.Write(ctx, func(c *database.Conn) error {
			var n int64
			err := c.Query(`SELECT n FROM numbers`, func(r database.Row) error {
				n = r.Int(0)
				return nil
			})
			if err != nil {
				return err
			}
			return c.Exec(`UPDATE numbers SET n = ?`, n+1)
		})
		if !errors.Is(err, database.ErrBusy) {
			return err
		}
	}
}

func TestWrite_is_busy_while_another_process_writes(t *testing.T) {
	path := newFile(t, numbers())
	ours, theirs := open(t, path), open(t, path)
	must(t, theirs.Write(t.Context(), func(c *database.Conn) error {
		must(t, c.Query(`SELECT n FROM numbers`, nil)) // what was read can't change any more
		start := time.Now()
		mustBe(t, ours.Write(t.Context(), insert(2)), database.ErrBusy)
		if waited := time.Since(start); waited < time.Second {
			t.Errorf("gave up after %v", waited)
		}
		must(t, insert(1)(c))
		if got := content(t, ours); got != nil {
			t.Errorf("reads %v before the commit", got)
		}
		return nil
	}))
	must(t, ours.Write(t.Context(), insert(3)))
	if diff := cmp.Diff([]int64{1, 3}, content(t, theirs)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestWrite_goes_on_when_its_context_ends_midway(t *testing.T) {
	db := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	must(t, db.Write(ctx, func(c *database.Conn) error {
		cancel()
		return insert(1)(c)
	}))
	if diff := cmp.Diff([]int64{1}, content(t, db)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

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
