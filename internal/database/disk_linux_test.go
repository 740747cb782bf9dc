package database_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/database"
)

// smallDisk mounts a file system of 2 MiB. Without the right to, the test is skipped on a laptop and fails in CI.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount a small file system: %v", err)
		}
		t.Skipf("NOT TESTED: a full disk. To test it run as root: mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// fill takes all space that is left on the disk, and returns the function that gives it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	file, err := os.Create(path)
	must(t, err)
	for block := make([]byte, 4096); err == nil; {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	must(t, file.Close())
	return func() { must(t, os.Remove(path)) }
}

func insertMany(c *database.Conn) error {
	for n := range int64(900) {
		if err := c.Exec(`INSERT INTO numbers (n, twice) VALUES (?, ?)`, n+1, 2*n); err != nil {
			return err
		}
	}
	return nil
}

func TestSQLite_survives_a_full_disk(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "test.db")
	must(t, database.MigrateSQLite(t.Context(), path, numbers()))
	db, err := database.OpenSQLite(path)
	must(t, err)
	defer func() { must(t, db.Close()) }() // before the file system goes
	must(t, db.Write(t.Context(), insert(0)))

	for round := range 3 {
		free := fill(t, dir)
		mustBe(t, db.Write(t.Context(), insertMany), database.ErrUnavailable)
		for range 3 { // it stays so, whatever comes that needs no room or is refused for another reason
			must(t, db.Write(t.Context(), func(c *database.Conn) error { return c.Query(`SELECT n FROM numbers`, nil) }))
			mustBe(t, db.Write(t.Context(), insert(1000)), database.ErrConstraint)
			mustBe(t, db.Probe(t.Context()), database.ErrUnavailable)
			mustBe(t, db.Write(t.Context(), insertMany), database.ErrUnavailable)
		}
		if diff := cmp.Diff([]int64{0}, content(t, db)); diff != "" {
			t.Fatalf("round %d, while the disk is full (-want +got):\n%s", round, diff)
		}
		free()
		must(t, db.Probe(t.Context()))
		must(t, db.Write(t.Context(), insertMany))
		if n := len(content(t, db)); n != 901 {
			t.Fatalf("round %d: %d rows", round, n)
		}
		must(t, db.Write(t.Context(), func(c *database.Conn) error { return c.Exec(`DELETE FROM numbers WHERE n > 0`) }))
	}
}
