package httpapi_test

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

func TestCursor(t *testing.T) {
	t.Run("comes back as it was", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.String().Filter(func(s string) bool { return !strings.Contains(s, "\x00") }) // no text here has it
			want := position{Name: text.Draw(t, "name"), No: rapid.Int64().Draw(t, "no")}
			cursor, err := httpapi.EncodeCursor(want)
			if err != nil {
				t.Fatal(err)
			}
			if cursor != url.QueryEscape(cursor) {
				t.Fatalf("%q needs escaping in a URL", cursor)
			}
			got, first, err := httpapi.DecodeCursor[position](cursor)
			if err != nil || first || got != want {
				t.Fatalf("%+v, %v, %v; want %+v", got, first, err, want)
			}
		})
	})
	t.Run("none is the first page", func(t *testing.T) {
		if got, first, err := httpapi.DecodeCursor[position](""); got != (position{}) || !first || err != nil {
			t.Errorf("%+v, %v, %v", got, first, err)
		}
	})
	good, err := httpapi.EncodeCursor(position{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	for name, cursor := range map[string]string{
		"another version": b64([]byte("\x02" + `{"name":"x","no":0}`)),
		"no version":      b64([]byte(`{"name":"x","no":0}`)),
		"only a version":  b64([]byte("\x01")),
		"missing member":  b64([]byte("\x01" + `{"name":"x"}`)),
		"white space":     b64([]byte("\x01" + `{"name":"x", "no":0}`)),
		"padding":         good + "=",
		"line break":      good[:4] + "\n" + good[4:],
		"cut":             good[:len(good)-1],
		"not base64":      "?",
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := httpapi.DecodeCursor[position](cursor)
			if fault.CodeOf(err) != fault.InvalidRequest || got != (position{}) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestListOf(t *testing.T) {
	list := func(limit int, rows ...int) httpapi.List[string] {
		t.Helper()
		l, err := httpapi.ListOf(httpapi.Page{Limit: limit}, rows, strconv.Itoa, func(row int) int { return row })
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, l := range map[string]httpapi.List[string]{"full last page": list(2, 7, 8), "part of a page": list(3, 7, 8)} {
		if diff := cmp.Diff(httpapi.List[string]{Items: []string{"7", "8"}}, l); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	more := list(2, 7, 8, 9)
	after, _, err := httpapi.DecodeCursor[int](more.NextCursor)
	if diff := cmp.Diff([]string{"7", "8"}, more.Items); diff != "" || after != 8 || err != nil {
		t.Errorf("%s, next after %d, %v", diff, after, err)
	}
}

func FuzzDecodeCursor(f *testing.F) {
	good, _ := httpapi.EncodeCursor(position{Name: "x", No: 1})
	f.Add(good)
	f.Add("AXt9")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, first, err := httpapi.DecodeCursor[position](cursor)
		if err != nil || first {
			return
		}
		if again, err := httpapi.EncodeCursor(p); err != nil || again != cursor {
			t.Errorf("%q decodes, but is written %q, %v", cursor, again, err)
		}
	})
}

func TestPage(t *testing.T) {
	s := newSample(t)
	customer := with("Authorization", token(t, auth.Customer))
	next := func(query string) position {
		t.Helper()
		a := s.call(t, "GET", "/v1/orders"+query, "", customer)
		_, cursor, _ := strings.Cut(strings.TrimSuffix(a.body, `"}`), `"next_cursor":"`)
		p, _, err := httpapi.DecodeCursor[position](cursor)
		if a.status != 200 || err != nil {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return p
	}
	for query, want := range map[string]int64{"": 51, "?limit=1": 2, "?limit=200&status=placed": 201} {
		if got := next(query); got.No != want || got.Name != "alice" {
			t.Errorf("%s: %+v", query, got)
		}
	}
	// An empty value would be read as none: who looks an empty key up must not be shown everything.
	if a := s.call(t, "GET", "/v1/orders?limit=", "", customer); a.status != 400 {
		t.Errorf("empty parameter: %d %s", a.status, a.body)
	}
	cursor, err := httpapi.EncodeCursor(position{No: 7})
	if err != nil {
		t.Fatal(err)
	}
	if got := next("?cursor=" + cursor); got.No != 8 {
		t.Errorf("%+v", got)
	}
}
