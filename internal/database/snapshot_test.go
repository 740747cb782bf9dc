package database_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/database"
)

func TestSnapshot_is_of_its_moment(t *testing.T) {
	db := fresh(t)
	must(t, db.Write(t.Context(), insert(1)))
	snapshot, err := db.Snapshot()
	must(t, err)
	must(t, db.Write(t.Context(), insert(2)))
	path := filepath.Join(t.TempDir(), "what? 100%.db")
	must(t, snapshot.Copy(path))
	must(t, snapshot.Close())
	if diff := cmp.Diff([]int64{1, 2}, content(t, db)); diff != "" {
		t.Errorf("the database (-want +got):\n%s", diff)
	}
	must(t, database.CheckSQLite(path, numbers()))
	copied := open(t, path)
	must(t, copied.Write(t.Context(), insert(3)))
	if diff := cmp.Diff([]int64{1, 3}, content(t, copied)); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
}

func TestSnapshot_that_can_not_be_copied(t *testing.T) {
	snapshot, err := fresh(t).Snapshot()
	must(t, err)
	defer snapshot.Close() //nolint:errcheck // nothing was written
	mustBe(t, snapshot.Copy(filepath.Join(t.TempDir(), "absent", "copy.db")), database.ErrUnavailable)
}

func TestFreeze(t *testing.T) {
	paths := []string{newFile(t, numbers()), newFile(t, numbers()), newFile(t, numbers())}
	var databases []*database.SQLite
	for _, path := range paths {
		databases = append(databases, open(t, path))
	}
	errMine := errors.New("mine")
	mustBe(t, database.Freeze(t.Context(), databases, func() error {
		for i, path := range paths {
			if tryToWrite(t, path) == nil {
				t.Errorf("database %d was written to", i)
			}
			content(t, databases[i])
		}
		return errMine
	}), errMine)
	for i, path := range paths {
		if err := tryToWrite(t, path); err != nil {
			t.Errorf("database %d can't be written to afterwards: %v", i, err)
		}
	}
	mustBe(t, database.Freeze(ended(), databases, func() error { panic("frozen") }), ended().Err())
}

// tryToWrite writes as another process does that doesn't wait.
func tryToWrite(t *testing.T, path string) error {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=busy_timeout(0)")
	must(t, err)
	defer db.Close() //nolint:errcheck // the write says whether it worked
	_, err = db.Exec(`INSERT INTO numbers (n) VALUES (1)`)
	return err
}
