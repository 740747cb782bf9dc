package database

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/pressly/goose/v3"
)

// ErrOlderSchema says that a database has not been brought to this program's version, or is none of its databases.
var ErrOlderSchema = errors.New("database schema is older than this program, run kuhnya migrate")

// CheckSQLite returns nil if every line in the database file at path is at exactly this program's version, else
// [ErrNewerSchema] or [ErrOlderSchema]. It creates and changes nothing.
func CheckSQLite(path string, lines ...Line) (err error) {
	raw, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return fmt.Errorf("open %s: %w", filepath.Base(path), classify(err))
	}
	conn := &Conn{raw: raw, prepared: map[string]*sqlite3.Stmt{}}
	defer func() { err = errors.Join(err, conn.close()) }()
	// It isn't opened read only: such a reader of a WAL would leave the WAL's files behind.
	if err := errors.Join(raw.BusyTimeout(busyTimeout), conn.Exec(`PRAGMA query_only = ON`)); err != nil {
		return classify(err)
	}
	for _, line := range lines {
		if err := line.check(conn); err != nil {
			return fmt.Errorf("%s of %s: %w", line.Name, filepath.Base(path), err)
		}
	}
	return nil
}

func (l Line) check(conn *Conn) error {
	newest, err := l.newest()
	if err != nil {
		return err
	}
	version, err := l.version(conn)
	switch {
	case err != nil:
		return err
	case version > newest:
		return fmt.Errorf("%w: version %d, this program knows %d", ErrNewerSchema, version, newest)
	case version < newest:
		return fmt.Errorf("%w: version %d, this program needs %d", ErrOlderSchema, version, newest)
	}
	return nil
}

// newest is the version that the line's files lead to.
func (l Line) newest() (newest int64, err error) {
	files, err := fs.Glob(l.Files, "*.sql")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}

// version is what the database says of the line, 0 if it has never heard of it.
func (l Line) version(conn *Conn) (version int64, err error) {
	known := false
	err = conn.Query(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`, func(Row) error {
		known = true
		return nil
	}, "schema_"+l.Name)
	if err != nil || !known {
		return 0, err
	}
	err = conn.Query(`SELECT coalesce(max(version_id), 0) FROM "schema_`+l.Name+`"`, func(r Row) error {
		version = r.Int(0)
		return nil
	})
	return version, err
}
