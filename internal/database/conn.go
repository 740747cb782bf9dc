package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/ncruces/go-sqlite3"
)

// Conn is a connection inside a transaction. It is valid until the function that received it returns.
type Conn struct {
	raw      *sqlite3.Conn
	prepared map[string]*sqlite3.Stmt
}

func (c *Conn) transact(begin string, f func(*Conn) error) (err error) {
	if err := c.Exec(begin); err != nil {
		return err
	}
	defer func() {
		// After a failed commit, a full disk or a panic the transaction may or may not be open still.
		if !c.raw.GetAutocommit() {
			_ = c.Exec("ROLLBACK")
		}
	}()
	if err := f(c); err != nil {
		return err
	}
	return c.Exec("COMMIT")
}

// until runs f and interrupts its queries when ctx ends. Afterwards the connection works again, for the roll-back.
func (c *Conn) until(ctx context.Context, f func(*Conn) error) error {
	defer c.raw.SetInterrupt(c.raw.SetInterrupt(ctx))
	err := f(c)
	if errors.Is(err, sqlite3.INTERRUPT) {
		return fmt.Errorf("read: %w", ctx.Err())
	}
	return err
}

func (c *Conn) close() error {
	for _, stmt := range c.prepared {
		_ = stmt.Close()
	}
	return c.raw.Close()
}

// Exec runs a statement that returns no rows. Arguments are bound by type: UUIDs as 16 bytes, times as microseconds
// since 1970 UTC, nil pointers and nil as NULL.
func (c *Conn) Exec(query string, args ...any) error {
	return c.Query(query, nil, args...)
}

// Query runs a statement and calls row for each row of its result. The row is valid during the call. In there other
// statements may run, but not this one.
func (c *Conn) Query(query string, row func(Row) error, args ...any) error {
	stmt, err := c.statement(query)
	if err != nil {
		return fmt.Errorf("prepare %.60q: %w", query, classify(err))
	}
	if stmt.Busy() { // it is one cursor: the inner query would start the outer one again, without end
		return fmt.Errorf("%.60q runs inside itself", query)
	}
	defer stmt.Reset() //nolint:errcheck // repeats the error of Step
	if err := bindAll(stmt, args); err != nil {
		return fmt.Errorf("bind %.60q: %w", query, err)
	}
	for stmt.Step() {
		if row == nil {
			continue
		}
		if err := row(Row{stmt}); err != nil {
			return err
		}
	}
	return classify(stmt.Err())
}

// Changed is the number of rows that the last Exec inserted, updated or deleted.
func (c *Conn) Changed() int64 { return c.raw.Changes() }

// Now is the database's clock, to the microsecond, as times are kept: what came first must not look as if it came at the
// same time. SQLite reads the clock of this process too, but in SQL it tells milliseconds only.
func (c *Conn) Now() (time.Time, error) {
	return time.Now().UTC().Truncate(time.Microsecond), nil
}

func (c *Conn) statement(query string) (*sqlite3.Stmt, error) {
	if stmt := c.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, rest, err := c.raw.PrepareFlags(query, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	if stmt == nil || strings.TrimSpace(rest) != "" {
		return nil, errors.Join(errors.New("not one statement"), stmt.Close())
	}
	c.prepared[query] = stmt
	return stmt, nil
}

// bindAll wants an argument for every parameter: a parameter left out would keep what the statement's last run had there.
func bindAll(stmt *sqlite3.Stmt, args []any) error {
	if want := stmt.BindCount(); len(args) != want {
		return fmt.Errorf("%d arguments for %d parameters", len(args), want)
	}
	for i, arg := range args {
		if err := bind(stmt, i+1, arg); err != nil {
			return fmt.Errorf("argument %d: %w", i+1, classify(err))
		}
	}
	return nil
}

func bind(stmt *sqlite3.Stmt, param int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return stmt.BindNull(param)
	case string:
		return stmt.BindText(param, v)
	case []byte:
		if v == nil {
			return stmt.BindNull(param)
		}
		return stmt.BindBlob(param, v)
	case int:
		return stmt.BindInt64(param, int64(v))
	case int64:
		return stmt.BindInt64(param, v)
	case bool:
		return stmt.BindBool(param, v)
	case uuid.UUID:
		return stmt.BindBlob(param, v[:])
	case time.Time:
		return stmt.BindInt64(param, v.UnixMicro())
	case *string:
		if v == nil {
			return stmt.BindNull(param)
		}
		return stmt.BindText(param, *v)
	case *int64:
		if v == nil {
			return stmt.BindNull(param)
		}
		return stmt.BindInt64(param, *v)
	case *time.Time:
		if v == nil {
			return stmt.BindNull(param)
		}
		return stmt.BindInt64(param, v.UnixMicro())
	default:
		return fmt.Errorf("no binding for %T", arg)
	}
}

// Row is the current row of a query.
type Row struct{ stmt *sqlite3.Stmt }

// Null says whether column i is NULL.
func (r Row) Null(i int) bool { return r.stmt.ColumnType(i) == sqlite3.NULL }

// Text is column i as text.
func (r Row) Text(i int) string { return r.stmt.ColumnText(i) }

// TextOrNil is column i as text, nil for NULL.
func (r Row) TextOrNil(i int) *string {
	if r.Null(i) {
		return nil
	}
	return new(r.Text(i))
}

// Int is column i as an integer.
func (r Row) Int(i int) int64 { return r.stmt.ColumnInt64(i) }

// Bool is column i as a truth value.
func (r Row) Bool(i int) bool { return r.stmt.ColumnBool(i) }

// Blob is a copy of column i, nil for NULL and empty for an empty value.
func (r Row) Blob(i int) []byte {
	if r.Null(i) {
		return nil
	}
	return r.stmt.ColumnBlob(i, []byte{})
}

// UUID is column i as the id that was bound there.
func (r Row) UUID(i int) (id uuid.UUID) {
	copy(id[:], r.stmt.ColumnRawBlob(i))
	return id
}

// Time is column i as an instant in UTC.
func (r Row) Time(i int) time.Time { return time.UnixMicro(r.Int(i)).UTC() }
