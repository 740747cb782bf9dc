package database

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"time"

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

// lockPause is the pause between two tries to get the lock of a migration.
const lockPause = 20 * time.Millisecond

// Embedded is the line whose migrations a package embeds from its folder migrations.
func Embedded(name string, files embed.FS) Line {
	root, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder's name is a valid path
	}
	return Line{Name: name, Files: root}
}

// MigrateSQLite creates or upgrades the lines in the database file at path. A lock on a file beside it keeps processes
// that start at once apart. If one line is newer than this program, none is touched.
func MigrateSQLite(ctx context.Context, path string, lines ...Line) (err error) {
	lock := flock.New(path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return fmt.Errorf("lock %s: %w", filepath.Base(path), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	db, err := sql.Open("sqlite3", dataSource(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, step := range []func(context.Context, *goose.Provider) error{refuseNewer, up} {
		for _, line := range lines {
			if err := line.do(ctx, db, step); err != nil {
				return fmt.Errorf("migrate %s of %s: %w", line.Name, filepath.Base(path), err)
			}
		}
	}
	return nil
}

func dataSource(path string) string {
	return fileURI(path) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)"
}

// fileURI escapes the path: in a URI a question mark or a percent sign would mean something.
func fileURI(path string) string {
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	return file.String()
}

func (l Line) do(ctx context.Context, db *sql.DB, step func(context.Context, *goose.Provider) error) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, l.Files,
		goose.WithTableName("schema_"+l.Name), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	return step(ctx, provider)
}

func refuseNewer(ctx context.Context, provider *goose.Provider) error {
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	if newest := sources[len(sources)-1].Version; version > newest {
		return fmt.Errorf("%w: version %d, this program knows %d", ErrNewerSchema, version, newest)
	}
	return nil
}

func up(ctx context.Context, provider *goose.Provider) error {
	_, err := provider.Up(ctx)
	return err
}
