package database_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"kuhnya/internal/database"
)

func TestConn_keeps_values(t *testing.T) {
	text, number := "\xff\x00'ключ", int64(math.MinInt64)
	instant := time.Date(2026, 3, 31, 23, 59, 59, 123456000, time.UTC)
	id := uuid.MustParse("0199f3a0-0000-7000-8000-00000000ffff")
	asText := func(r database.Row) any { return r.Text(0) }
	asTextOrNil := func(r database.Row) any { return r.TextOrNil(0) }
	asInt := func(r database.Row) any { return r.Int(0) }
	asBool := func(r database.Row) any { return r.Bool(0) }
	asBlob := func(r database.Row) any { return r.Blob(0) }
	asUUID := func(r database.Row) any { return r.UUID(0) }
	asTime := func(r database.Row) any { return r.Time(0) }
	asNull := func(r database.Row) any { return r.Null(0) }
	for name, c := range map[string]struct {
		bound any
		read  func(database.Row) any
		want  any
	}{
		"text":                 {text, asText, text},
		"empty text":           {"", asTextOrNil, new("")},
		"pointer to text":      {&text, asTextOrNil, &text},
		"nil pointer to text":  {(*string)(nil), asTextOrNil, (*string)(nil)},
		"null text":            {nil, asText, ""},
		"int":                  {-7, asInt, int64(-7)},
		"smallest integer":     {number, asInt, number},
		"largest integer":      {int64(math.MaxInt64), asInt, int64(math.MaxInt64)},
		"pointer to integer":   {&number, asInt, number},
		"nil pointer to int":   {(*int64)(nil), asNull, true},
		"true":                 {true, asBool, true},
		"false":                {false, asBool, false},
		"blob":                 {[]byte(text), asBlob, []byte(text)},
		"empty blob":           {[]byte{}, asBlob, []byte{}},
		"empty blob not null":  {[]byte{}, asNull, false},
		"nil blob":             {[]byte(nil), asBlob, []byte(nil)},
		"null blob":            {nil, asBlob, []byte(nil)},
		"uuid":                 {id, asUUID, id},
		"uuid as its bytes":    {id, asBlob, id[:]},
		"null uuid":            {nil, asUUID, uuid.Nil},
		"time":                 {instant, asTime, instant},
		"time cut":             {instant.Add(999 * time.Nanosecond), asTime, instant},
		"time of another zone": {instant.In(time.FixedZone("", 5*3600+1800)), asTime, instant},
		"time before 1970":     {time.Unix(-1, -1000), asTime, time.Unix(-1, -1000).UTC()},
		"pointer to time":      {&instant, asTime, instant},
		"nil pointer to time":  {(*time.Time)(nil), asNull, true},
		"null":                 {nil, asNull, true},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, fresh(t).Write(t.Context(), func(conn *database.Conn) error {
				must(t, conn.Exec(`CREATE TABLE one (v ANY) STRICT`))
				must(t, conn.Exec(`INSERT INTO one VALUES (?)`, c.bound))
				return conn.Query(`SELECT v FROM one`, func(r database.Row) error {
					if diff := cmp.Diff(c.want, c.read(r)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
					return nil
				})
			}))
		})
	}
}

func TestConn_keeps_any_bytes(t *testing.T) {
	must(t, fresh(t).Write(t.Context(), func(c *database.Conn) error {
		rapid.Check(t, func(r *rapid.T) {
			blob := rapid.SliceOf(rapid.Byte()).Draw(r, "blob")
			text := string(rapid.SliceOf(rapid.Byte()).Draw(r, "text"))
			err := c.Query(`SELECT ?, ?, length(?)`, func(row database.Row) error {
				if got := row.Blob(0); !bytes.Equal(got, blob) {
					r.Errorf("blob %q became %q", blob, got)
				}
				if got := row.Text(1); got != text {
					r.Errorf("text %q became %q", text, got)
				}
				return nil
			}, blob, text, blob)
			if err != nil {
				r.Fatal(err)
			}
		})
		return nil
	}))
}

func TestConn_hands_out_copies(t *testing.T) {
	var blobs [][]byte
	must(t, fresh(t).Read(t.Context(), func(c *database.Conn) error {
		return c.Query(`SELECT x'0101' UNION ALL SELECT x'0202'`, func(r database.Row) error {
			blobs = append(blobs, r.Blob(0))
			return nil
		})
	}))
	if diff := cmp.Diff([][]byte{{1, 1}, {2, 2}}, blobs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConn_refuses_misuse(t *testing.T) {
	const one = `INSERT INTO numbers (n, twice) VALUES (?, ?)`
	for name, misuse := range map[string]func(*database.Conn) error{
		// An argument of the call before would stand in for the missing one.
		"too few arguments":  func(c *database.Conn) error { return c.Exec(one, 5) },
		"too many arguments": func(c *database.Conn) error { return c.Exec(one, 5, 6, 7) },
		"unknown type":       func(c *database.Conn) error { return c.Exec(one, 5, 1.5) },
		"two statements":     func(c *database.Conn) error { return c.Exec(`DELETE FROM numbers; DELETE FROM numbers`) },
		"no statement":       func(c *database.Conn) error { return c.Exec(`-- nothing`) },
		"no SQL":             func(c *database.Conn) error { return c.Exec(`SELEC`) },
		// It would start the outer query again, and its rows would never end.
		"a query inside itself": func(c *database.Conn) error {
			return c.Query(`SELECT n FROM numbers`, func(database.Row) error { return c.Query(`SELECT n FROM numbers`, nil) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := fresh(t)
			must(t, db.Write(t.Context(), func(c *database.Conn) error { return c.Exec(one, 1, 2) }))
			err := db.Write(t.Context(), misuse)
			if err == nil {
				t.Error("was accepted")
			}
			if database.Transient(err) {
				t.Errorf("%v is transient", err)
			}
			if diff := cmp.Diff([]int64{1}, content(t, db)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConn_counts_what_the_last_statement_changed(t *testing.T) {
	must(t, fresh(t).Write(t.Context(), func(c *database.Conn) error {
		must(t, c.Exec(`CREATE UNIQUE INDEX one ON numbers (n)`))
		for _, step := range []struct {
			query string
			want  int64
		}{
			{`INSERT INTO numbers (n) VALUES (1), (2), (3)`, 3},
			{`INSERT INTO numbers (n) VALUES (3) ON CONFLICT DO NOTHING`, 0},
			{`UPDATE numbers SET twice = 2 * n WHERE n > 1`, 2},
			{`UPDATE numbers SET twice = 0 WHERE n > 9`, 0},
			{`DELETE FROM numbers`, 3},
		} {
			must(t, c.Exec(step.query))
			if got := c.Changed(); got != step.want {
				t.Errorf("%s: %d rows, want %d", step.query, got, step.want)
			}
		}
		return nil
	}))
}

// TestConn_Now: the engine's clock is the machine's, cut to what a column keeps.
func TestConn_Now(t *testing.T) {
	must(t, fresh(t).Read(t.Context(), func(c *database.Conn) error {
		for range 1000 {
			before := time.Now().Truncate(time.Microsecond)
			now, err := c.Now()
			must(t, err)
			if now.Before(before) || now.After(time.Now()) || now.Location() != time.UTC {
				t.Fatalf("%v is not between %v and now", now, before.UTC())
			}
			must(t, c.Query(`SELECT ?`, func(r database.Row) error {
				if kept := r.Time(0); kept != now {
					t.Errorf("%v is kept as %v", now, kept)
				}
				return nil
			}, now))
		}
		return nil
	}))
}
