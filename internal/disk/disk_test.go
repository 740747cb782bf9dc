package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFree(t *testing.T) {
	dir := t.TempDir()
	before, err := Free(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("NOT TESTED:", err)
	}
	if err != nil || before <= 0 {
		t.Fatalf("%d bytes, %v", before, err)
	}
	// Others write to this file system meanwhile, so a difference says nothing; the order of magnitude does.
	if before%512 != 0 || before < 1<<20 || before > 1<<60 {
		t.Errorf("%d bytes free", before)
	}
	if _, err := Free(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Free(filepath.Join(dir, "file")); err != nil || n <= 0 {
		t.Errorf("of a file: %d, %v", n, err)
	}
}
