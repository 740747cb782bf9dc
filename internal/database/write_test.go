package database_test

import (
	"context"
	"errors"
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
		mustBe(t, ours.Probe(t.Context()), database.ErrBusy)
		must(t, insert(1)(c))
		if got := content(t, ours); got != nil {
			t.Errorf("reads %v before the commit", got)
		}
		return nil
	}))
	must(t, ours.Probe(t.Context()))
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
