package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrIdle says that no broker runs on a folder.
var ErrIdle = errors.New("no broker is running there")

// Copy copies the folder of a broker that runs, in whatever process, into a new one. The copy is what a crash at that
// moment leaves: a broker that is started on it repairs it, and has every record and every commit that was acknowledged
// before Copy was called, but for records that were trimmed meanwhile. What was written meanwhile may be there or not,
// but never a commit without the records before it.
func Copy(ctx context.Context, from, to string) error {
	source, err := openExisting(from)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("broker folder %s: %w", from, ErrIdle), source.release())
	case !errors.Is(err, ErrLocked):
		return err
	}
	target := &folder{dir: to}
	if err := copyLog(ctx, (&folder{dir: from}).log(), target.log()); err != nil {
		return fmt.Errorf("copy broker folder: %w", err)
	}
	return target.markDirty()
}

// copyLog copies a log in an order that makes up for its files being read one after the other: commits before the records
// that they are about, and records before their index, of which a start cuts off what is too much.
func copyLog(ctx context.Context, from, to string) error {
	if err := copyFiles(ctx, from, to, func(string) bool { return true }); err != nil {
		return err
	}
	partitions, err := os.ReadDir(filepath.Join(from, "partitions"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, p := range partitions {
		source, target := filepath.Join(from, "partitions", p.Name()), filepath.Join(to, "partitions", p.Name())
		for _, wanted := range []func(string) bool{holdsRecords, holdsNone} {
			if err := copyFiles(ctx, source, target, wanted); err != nil {
				return err
			}
		}
	}
	return nil
}

func holdsRecords(name string) bool { return strings.HasSuffix(name, ".dat") }
func holdsNone(name string) bool    { return !holdsRecords(name) }

// copyFiles copies the wanted files of a folder into another, those with the newest records first: older ones may be
// trimmed before their turn comes.
func copyFiles(ctx context.Context, from, to string, wanted func(name string) bool) error {
	entries, err := os.ReadDir(from)
	if err := errors.Join(err, os.MkdirAll(to, 0o700)); err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return e.IsDir() || strings.HasSuffix(e.Name(), ".tmp") || !wanted(e.Name())
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return compareNumbers(b.Name(), a.Name()) })
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if trimmed := i > 0 && errors.Is(err, fs.ErrNotExist); err != nil && !trimmed {
			return err
		}
	}
	return nil
}

// compareNumbers compares files that are named by the offset of their first record.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // nothing was written
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
