package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// folder is a broker's place on disk:
//
//	lock    held while a broker runs; its content means nothing
//	dirty   exists from before the log is opened until it was closed in order
//	log/    what the broker writes
type folder struct {
	dir  string
	lock *flock.Flock
}

// openExisting is [openFolder] of a folder that holds a log already, else it fails with [ErrAbsent] and makes nothing.
func openExisting(dir string) (*folder, error) {
	if _, err := os.Stat((&folder{dir: dir}).log()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrAbsent
		}
		return nil, fmt.Errorf("broker folder %s: %w", dir, err)
	}
	return openFolder(dir)
}

// openFolder makes the folder if need be and locks it, or fails with [ErrLocked] at once.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make broker folder: %w", err)
	}
	f := &folder{dir: dir, lock: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))}
	locked, err := f.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock broker folder %s: %w", dir, err)
	}
	if !locked {
		return nil, fmt.Errorf("broker folder %s: %w", dir, ErrLocked)
	}
	if err := os.MkdirAll(f.log(), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("make broker folder: %w", err), f.release())
	}
	if err := f.whole(); err != nil {
		return nil, errors.Join(fmt.Errorf("broker folder %s: %w", dir, err), f.release())
	}
	return f, nil
}

// whole refuses a log that has lost the files which describe it: the broker would begin a new one beside the old
// records, which nobody could read any more.
func (f *folder) whole() error {
	partitions, err := os.ReadDir(filepath.Join(f.log(), "partitions"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(partitions) == 0 {
		return nil
	}
	for _, name := range []string{"meta.json", "topics.json"} {
		if err == nil {
			_, err = os.Stat(filepath.Join(f.log(), name))
		}
	}
	return err
}

func (f *folder) log() string    { return filepath.Join(f.dir, "log") }
func (f *folder) marker() string { return filepath.Join(f.dir, "dirty") }

// dirty says whether the log was left without being closed.
func (f *folder) dirty() (bool, error) {
	_, err := os.Stat(f.marker())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// markDirty must be on disk before the log is opened, hence the syncs of the file and of its entry in the folder.
func (f *folder) markDirty() error {
	file, err := os.OpenFile(f.marker(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("mark broker folder %s: %w", f.dir, err)
	}
	if err := errors.Join(file.Sync(), file.Close(), f.sync()); err != nil {
		return fmt.Errorf("mark broker folder %s: %w", f.dir, err)
	}
	return nil
}

func (f *folder) markClean() error {
	if err := os.Remove(f.marker()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unmark broker folder %s: %w", f.dir, err)
	}
	return nil
}

func (f *folder) sync() error {
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (f *folder) release() error {
	if err := f.lock.Unlock(); err != nil {
		return fmt.Errorf("unlock broker folder %s: %w", f.dir, err)
	}
	return nil
}
