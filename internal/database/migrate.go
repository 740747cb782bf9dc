package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gofrs/flock"
	_ "github.com/ncruces/go-sqlite3/driver" // goose speaks database/sql
	"github.com/pressly/goose/v3"
)

// ErrNewerSchema says that a database was upgraded by a newer version of this program; an older one must not touch it.
var ErrNewerSchema = errors.New("database schema is newer than this program")

// Line is a sequence of migrations with a version table of its own. A database may hold several lines.
type Line struct {
	Name  string
	Files fs.FS // *.sql at its root
}

// MigrateSQLite creates or upgrades the lines in the database file at path. A lock on a file beside it keeps processes
// that start at once apart.
func MigrateSQLite(ctx context.Context, path string, lines ...Line) (err error) {
	lock := flock.New(path + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", filepath.Base(path), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, line := range lines {
		if err := line.up(ctx, db); err != nil {
			return fmt.Errorf("migrate %s of %s: %w", line.Name, filepath.Base(path), err)
		}
	}
	return nil
}

func (l Line) up(ctx context.Context, db *sql.DB) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, l.Files,
		goose.WithTableName("schema_"+l.Name), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	if newest := sources[len(sources)-1].Version; version > newest {
		return fmt.Errorf("%w: version %d, this program knows %d", ErrNewerSchema, version, newest)
	}
	_, err = provider.Up(ctx)
	return err
}
