package database_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/database"
)

// migrateEnv makes this binary a process that migrates the database named there.
const migrateEnv = "DATABASE_TEST_MIGRATE"

func migrateProcess(path string) int {
	if err := database.MigrateSQLite(context.Background(), path, numbers(), letters(2)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// timestamps is when a migration was applied.
var timestamps = regexp.MustCompile(`'[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}'`)

// letters is a line up to a version. Running a migration twice fails, and so does leaving one out.
func letters(version int) database.Line {
	files := fstest.MapFS{"0001_letters.sql": {Data: []byte("-- +goose Up\nCREATE TABLE letters (l TEXT NOT NULL) STRICT;")}}
	for i := 2; i <= version; i++ {
		files[fmt.Sprintf("%04d_more.sql", i)] = &fstest.MapFile{
			Data: fmt.Appendf(nil, "-- +goose Up\nINSERT INTO letters VALUES ('%c');\nCREATE TABLE more_%d (m TEXT) STRICT;", 'a'+i-2, i),
		}
	}
	return database.Line{Name: "letters", Files: files}
}

// dump is the whole database as text, by table.
func dump(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := database.OpenSQLite(path)
	must(t, err)
	defer db.Close() //nolint:errcheck // only read
	tables := map[string]string{}
	must(t, db.Read(t.Context(), func(c *database.Conn) error {
		must(t, c.Query(`SELECT name, sql FROM sqlite_schema WHERE type = 'table'`, func(r database.Row) error {
			tables[r.Text(0)] = r.Text(1)
			return nil
		}))
		for table := range maps.Clone(tables) {
			columns := ""
			must(t, c.Query(`SELECT group_concat(format('quote("%w")', name), ' || '', '' || ') FROM pragma_table_info(?)`, func(r database.Row) error {
				columns = r.Text(0)
				return nil
			}, table))
			must(t, c.Query(fmt.Sprintf(`SELECT %s FROM "%s" ORDER BY rowid`, columns, table), func(r database.Row) error {
				tables[table] += "\n" + r.Text(0)
				return nil
			}))
		}
		return nil
	}))
	return tables
}

func TestMigrateSQLite(t *testing.T) {
	t.Run("upgrades_and_repeats", func(t *testing.T) {
		path := newFile(t, letters(1))
		must(t, database.MigrateSQLite(t.Context(), path, letters(3)))
		after := dump(t, path)
		if got := after["letters"]; !strings.HasSuffix(got, "\n'a'\n'b'") {
			t.Errorf("letters: %s", got)
		}
		must(t, database.MigrateSQLite(t.Context(), path, letters(3)))
		if diff := cmp.Diff(after, dump(t, path)); diff != "" {
			t.Errorf("a repeat changed (-before +after):\n%s", diff)
		}
	})
	t.Run("keeps_lines_apart", func(t *testing.T) {
		path := newFile(t, numbers(), letters(3))
		must(t, database.MigrateSQLite(t.Context(), path, numbers()))
		tables := dump(t, path)
		for _, name := range []string{"numbers", "letters", "more_3", "schema_numbers", "schema_letters"} {
			if tables[name] == "" {
				t.Errorf("no table %s", name)
			}
		}
	})
	t.Run("undoes_a_migration_that_fails", func(t *testing.T) {
		path := newFile(t, letters(1))
		before := dump(t, path)
		broken := letters(2)
		broken.Files.(fstest.MapFS)["0002_more.sql"].Data = []byte("-- +goose Up\nCREATE TABLE half (h TEXT) STRICT;\nINSERT INTO nowhere VALUES (1);")
		if err := database.MigrateSQLite(t.Context(), path, broken); err == nil {
			t.Error("no error")
		}
		if diff := cmp.Diff(before, dump(t, path)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
		must(t, database.MigrateSQLite(t.Context(), path, letters(2)))
	})
}

// TestMigrateSQLite_refuses_a_newer_schema: an older program must not touch what it does not know, not even the lines
// that it does know.
func TestMigrateSQLite_refuses_a_newer_schema(t *testing.T) {
	path := newFile(t, letters(3))
	other := numbers()
	must(t, database.MigrateSQLite(t.Context(), path, other))
	before := dump(t, path)
	upgraded := numbers()
	upgraded.Files.(fstest.MapFS)["0002_more.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE touched (t TEXT) STRICT;")}
	mustBe(t, database.MigrateSQLite(t.Context(), path, upgraded, letters(2)), database.ErrNewerSchema)
	if diff := cmp.Diff(before, dump(t, path)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	must(t, database.MigrateSQLite(t.Context(), path, upgraded, letters(3)))
}

func TestMigrateSQLite_by_many_at_once(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := database.MigrateSQLite(t.Context(), path, numbers(), letters(2)); err != nil {
				t.Error(err)
			}
		})
	}
	for range 3 {
		all.Go(func() {
			process := exec.CommandContext(t.Context(), os.Args[0])
			process.Env = append(os.Environ(), migrateEnv+"="+path)
			if output, err := process.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
	all.Wait()
	alone := newFile(t, numbers(), letters(2))
	ignoreTimes := cmp.Transformer("withoutTimes", func(s string) string { return timestamps.ReplaceAllString(s, "") })
	if diff := cmp.Diff(dump(t, alone), dump(t, path), ignoreTimes); diff != "" {
		t.Errorf("(-one process +many):\n%s", diff)
	}
}

func TestMigrateSQLite_waits_for_the_lock_as_long_as_the_context(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	lock := flock.New(path + ".lock")
	must(t, lock.Lock())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	mustBe(t, database.MigrateSQLite(ctx, path, numbers()), context.DeadlineExceeded)
	must(t, lock.Unlock())
	must(t, database.MigrateSQLite(t.Context(), path, numbers()))
}

// TestMigrateSQLite_takes_any_path: what it migrates is what OpenSQLite opens.
func TestMigrateSQLite_takes_any_path(t *testing.T) {
	for _, name := range []string{"plain", "with space", "per%20cent", "question?mark", "hash#mark", "амперсанд&=", "plus+colon:"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name, "test.db")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			must(t, database.MigrateSQLite(t.Context(), path, numbers()))
			must(t, open(t, path).Write(t.Context(), insert(1)))
		})
	}
	t.Run("relative", func(t *testing.T) {
		t.Chdir(t.TempDir())
		must(t, database.MigrateSQLite(t.Context(), "test.db", numbers()))
		must(t, open(t, "test.db").Write(t.Context(), insert(1)))
	})
}
