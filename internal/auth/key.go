package auth

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const keyFile = "auth.key"

// Key signs and checks tokens. It prints as a placeholder, so that it can't slip into a log.
type Key [32]byte

// String hides the key.
func (Key) String() string { return "[signing key]" }

// GoString hides the key.
func (Key) GoString() string { return "[signing key]" }

// LoadOrCreateKey returns the signing key of a data folder and makes it, readable by its owner only, on first use.
// Processes that start at the same time all get the same key. A damaged file is an error: it is never replaced, since
// that would end every session without a word.
func LoadOrCreateKey(dir string) (Key, error) {
	key, err := readKey(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Key{}, fmt.Errorf("create data folder: %w", err)
	}
	lock := flock.New(filepath.Join(dir, keyFile+".lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return Key{}, fmt.Errorf("lock signing key: %w", err)
	}
	defer lock.Close() // closing unlocks; nothing was written through it
	key, err = readKey(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err // another process was first
	}
	return createKey(dir)
}

// LoadKey returns the signing key of a data folder that has one, else an error that wraps [fs.ErrNotExist]. It makes none:
// a token signed with a new key would be worth nothing to the processes that run.
func LoadKey(dir string) (Key, error) { return readKey(dir) }

func readKey(dir string) (Key, error) {
	path := filepath.Join(dir, keyFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("read signing key: %w", err)
	}
	if len(data) != len(Key{}) {
		return Key{}, fmt.Errorf("signing key %s is damaged: %d bytes instead of %d", path, len(data), len(Key{}))
	}
	return Key(data), nil
}

func createKey(dir string) (Key, error) {
	var key Key
	rand.Read(key[:]) // never fails; the runtime aborts the process instead
	return key, key.write(dir)
}

// CopyKey gives another data folder the signing key of this one: the tokens of one are good for the other.
func CopyKey(from, to string) error {
	key, err := readKey(from)
	if err != nil {
		return err
	}
	return key.write(to)
}

// write writes beside the final name and renames, so that no reader ever sees half a key, not even after a crash.
func (k Key) write(dir string) error {
	tmp, err := os.CreateTemp(dir, keyFile+".*")
	if err != nil {
		return fmt.Errorf("create signing key: %w", err)
	}
	defer os.Remove(tmp.Name()) // a no-op once renamed
	_, err = tmp.Write(k[:])
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write signing key: %w", err)
	}
	if err := os.Rename(tmp.Name(), filepath.Join(dir, keyFile)); err != nil {
		return fmt.Errorf("store signing key: %w", err)
	}
	return nil
}
