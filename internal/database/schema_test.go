package database_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/database"
)

func TestCheckSQLite(t *testing.T) {
	for name, c := range map[string]struct {
		has, wants []database.Line
		err        error
	}{
		"the same":               {[]database.Line{numbers(), letters(2)}, []database.Line{numbers(), letters(2)}, nil},
		"one line newer":         {[]database.Line{numbers(), letters(3)}, []database.Line{numbers(), letters(2)}, database.ErrNewerSchema},
		"one line older":         {[]database.Line{numbers(), letters(1)}, []database.Line{numbers(), letters(2)}, database.ErrOlderSchema},
		"one line missing":       {[]database.Line{numbers()}, []database.Line{numbers(), letters(2)}, database.ErrOlderSchema},
		"a line that it has not": {[]database.Line{letters(2), numbers()}, []database.Line{numbers()}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t, c.has...)
			before := bytesOf(t, path)
			mustBe(t, database.CheckSQLite(path, c.wants...), c.err)
			if diff := cmp.Diff(before, bytesOf(t, path)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

func TestCheckSQLite_of_what_is_no_database(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	if err := database.CheckSQLite(path, numbers()); err == nil {
		t.Error("a file that isn't there was found")
	}
	must(t, os.WriteFile(path, nil, 0o600))
	mustBe(t, database.CheckSQLite(path, numbers()), database.ErrOlderSchema)
	if diff := cmp.Diff(map[string]int{"test.db": 0}, sizes(bytesOf(t, path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	must(t, os.WriteFile(path, []byte("this is no database, however long one looks at it, and however hard"), 0o600))
	if err := database.CheckSQLite(path, numbers()); err == nil {
		t.Error("a text was taken for a database")
	}
}

// bytesOf is the folder of a database, by file.
func bytesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	files := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		must(t, err)
		files[e.Name()] = string(content)
	}
	return files
}

func sizes(files map[string]string) map[string]int {
	sizes := map[string]int{}
	for name, content := range files {
		sizes[name] = len(content)
	}
	return sizes
}
