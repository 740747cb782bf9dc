package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kuhnya/internal/auth"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/database"
)

// freezeTimeout bounds how long a backup keeps everybody from writing: well below the time that a request is given.
const freezeTimeout = 5 * time.Second

// Backup copies a data folder, whose processes go on running, to a folder that must not exist yet. The copy is a data
// folder itself, as a crash of all processes at one moment would have left it: the moment at which Backup held the write
// locks of all databases. Everything that was acknowledged before is in it.
//
// Under the locks no service writes, so the snapshots of all databases are of one moment, and whatever still gets into
// the broker then was decided before: a record of a row that is in its outbox, a commit about an effect that is in its
// database. So the broker's files may be copied one after the other. The databases, which are larger, are copied from
// the snapshots when everybody writes again.
func Backup(ctx context.Context, data, to string) (err error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s: must not exist yet", to), err)
	}
	b := &backup{data: data}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.open(); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+".*"); err != nil {
		return fmt.Errorf("make a folder beside %s: %w", to, err)
	}
	if err := b.take(ctx); err != nil {
		return fmt.Errorf("back up %s: %w", data, err)
	}
	return errors.Join(os.Rename(b.folder, to), syncFile(filepath.Dir(to)))
}

// backup is one under way.
type backup struct {
	data      string
	folder    string // what is written before it gets its name
	databases []*database.SQLite
	snapshots []*database.Snapshot // in the order of Services
}

func (b *backup) open() error {
	for _, service := range Services {
		db, err := openExisting(b.data, service)
		if err != nil {
			return err
		}
		b.databases = append(b.databases, db)
	}
	return nil
}

func (b *backup) take(ctx context.Context) error {
	if err := b.freeze(ctx); err != nil {
		return err
	}
	for i, s := range b.snapshots {
		if err := s.Copy(DatabasePath(b.folder, Services[i])); err != nil {
			return err
		}
	}
	if err := auth.CopyKey(b.data, b.folder); err != nil {
		return err
	}
	return syncAll(b.folder)
}

// freeze takes the snapshots and copies the broker at one moment.
func (b *backup) freeze(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, freezeTimeout)
	defer cancel()
	return database.Freeze(ctx, b.databases, func() error {
		for _, db := range b.databases {
			s, err := db.Snapshot()
			if err != nil {
				return err
			}
			b.snapshots = append(b.snapshots, s)
		}
		return b.copyBroker(ctx)
	})
}

func (b *backup) copyBroker(ctx context.Context) error {
	err := embedded.Copy(ctx, filepath.Join(b.data, "broker"), filepath.Join(b.folder, "broker"))
	if errors.Is(err, embedded.ErrIdle) || errors.Is(err, embedded.ErrAbsent) {
		err = fmt.Errorf("%w; stop what runs on this data folder, if anything does, and copy it as it is", err)
	}
	return err
}

// close ends what is open, and removes what did not become a backup.
func (b *backup) close() (err error) {
	for _, s := range b.snapshots {
		err = errors.Join(err, s.Close())
	}
	for _, db := range b.databases {
		err = errors.Join(err, db.Close())
	}
	if b.folder != "" {
		err = errors.Join(err, os.RemoveAll(b.folder))
	}
	return err
}

// syncAll has everything in a folder on disk before the folder gets its name.
func syncAll(folder string) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncFile(path)
	})
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
