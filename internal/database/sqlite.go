// Package database opens the engines under the services and speaks their dialects' common ground: one write
// transaction at a time, snapshot reads from a bounded pool, prepared statements, migrations, and one classification
// of errors, made where they enter.
//
// Guarantee: a write function runs in one immediate transaction that holds the database's write lock from its first
// statement to its commit, so what it reads can't change before it writes. A commit that returned nil is on disk
// (WAL, synchronous=FULL).
//
// Failure model: a busy database, a full disk and an I/O error surface as errors of the classes in errors.go; the
// transaction is rolled back and the connection stays usable. The package retries nothing.
package database

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
)

const (
	readers     = 4 // readers that fill every core starve the writer
	busyTimeout = 2 * time.Second
	// A long WAL keeps checkpoints, and with them the slowest commits, rare.
	checkpointPages = 16000
)

// SQLite is one database file, shared safely with other processes. Create it with [OpenSQLite].
type SQLite struct {
	path   string
	writer chan *Conn
	reader chan *Conn // nil entries are connections not opened yet
	close  sync.Once
	failed atomic.Bool // the last that wrote, for want of storage
}

// OpenSQLite opens or creates the database file at path.
func OpenSQLite(path string) (*SQLite, error) {
	db := &SQLite{path: path, writer: make(chan *Conn, 1), reader: make(chan *Conn, readers)}
	conn, err := open(path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	db.writer <- conn
	for range readers {
		db.reader <- nil
	}
	return db, nil
}

func open(path string, flags sqlite3.OpenFlag) (*Conn, error) {
	raw, err := sqlite3.OpenFlags(path, flags)
	if err != nil {
		return nil, classify(err)
	}
	conn := &Conn{raw: raw, prepared: map[string]*sqlite3.Stmt{}}
	if err := conn.configure(); err != nil {
		return nil, errors.Join(classify(err), raw.Close())
	}
	return conn, nil
}

func (c *Conn) configure() error {
	if err := c.raw.BusyTimeout(busyTimeout); err != nil {
		return err
	}
	return c.raw.Exec(fmt.Sprintf(`
		PRAGMA journal_mode = WAL;
		PRAGMA synchronous = FULL;
		PRAGMA foreign_keys = ON;
		PRAGMA wal_autocheckpoint = %d;`, checkpointPages))
}

// Write runs f in one immediate transaction and commits it; if f returns an error, or the commit fails, nothing of it
// remains. Writers wait for each other in turn.
func (db *SQLite) Write(ctx context.Context, f func(*Conn) error) error {
	conn, err := take(ctx, db.writer)
	if err != nil {
		return err
	}
	defer func() { db.writer <- conn }()
	before := conn.raw.TotalChanges()
	err = conn.transact("BEGIN IMMEDIATE", f)
	db.learn(err, conn.raw.TotalChanges() != before)
	return err
}

// learn notes whether the database takes writes: its storage does, and no other process has kept the lock for longer than
// a write waits. A transaction that wrote nothing, or was refused for another reason, says nothing about that.
func (db *SQLite) learn(err error, wrote bool) {
	switch {
	case errors.Is(err, ErrUnavailable), errors.Is(err, ErrBusy):
		db.failed.Store(true)
	case err == nil && wrote:
		db.failed.Store(false)
	}
}

// Read runs f on one snapshot of the database. It ends with ctx, even in the middle of a long query: a reader that
// nobody waits for must not keep a connection from others. A write is too short for that, and its outcome must be clear.
func (db *SQLite) Read(ctx context.Context, f func(*Conn) error) error {
	conn, err := take(ctx, db.reader)
	if err != nil {
		return err
	}
	defer func() { db.reader <- conn }()
	if conn == nil {
		if conn, err = openReader(db.path); err != nil {
			return err
		}
	}
	return conn.transact("BEGIN", func(c *Conn) error { return c.until(ctx, f) })
}

// openReader opens a connection that refuses to write: a write there would not wait for its turn. It isn't opened read
// only, since readers of a WAL keep their marks in a shared file.
func openReader(path string) (*Conn, error) {
	conn, err := open(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return nil, err
	}
	if err := conn.Exec(`PRAGMA query_only = ON`); err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return conn, nil
}

// Probe returns nil if the database takes writes. After a write that failed for want of storage, or of the lock, it tries
// a real one, so that a disk with space again is noticed without waiting for a request. It writes one page; a larger write may still
// fail where that fits.
func (db *SQLite) Probe(ctx context.Context) error {
	if !db.failed.Load() {
		return nil
	}
	err := db.Write(ctx, func(c *Conn) error { return c.Exec(`PRAGMA user_version = 1`) })
	db.learn(err, true)
	return err
}

func take(ctx context.Context, pool chan *Conn) (*Conn, error) {
	if err := ctx.Err(); err != nil { // else chance decides between a free connection and the end
		return nil, fmt.Errorf("wait for a connection: %w", err)
	}
	select {
	case conn, open := <-pool:
		if !open {
			return nil, fmt.Errorf("database closed: %w", ErrUnavailable)
		}
		return conn, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a connection: %w", ctx.Err())
	}
}

// Close waits for running transactions and closes the file. A second call does nothing.
func (db *SQLite) Close() (err error) {
	db.close.Do(func() {
		for range readers {
			if conn := <-db.reader; conn != nil {
				err = errors.Join(err, conn.close())
			}
		}
		err = errors.Join(err, (<-db.writer).close())
		close(db.reader)
		close(db.writer)
	})
	return err
}
