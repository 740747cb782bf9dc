package idempotency_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kuhnya/idempotency"
)

const uuid = "0199d5a0-7c1e-7b2f-8f10-3f5a6f0e9b11"

// headers are the cases of the header, each with its key; "" is one that is refused.
var headers = []struct {
	name  string
	lines []string
	key   idempotency.Key
}{
	{"bare", []string{uuid}, uuid},
	{"quoted", []string{`"` + uuid + `"`}, uuid},
	{"blanks around", []string{" \t" + uuid + "\t "}, uuid},
	{"one character", []string{"k"}, "k"},
	{"255 characters", []string{strings.Repeat("k", 255)}, idempotency.Key(strings.Repeat("k", 255))},
	{"255 characters, all escaped", []string{`"` + strings.Repeat(`\"`, 255) + `"`}, idempotency.Key(strings.Repeat(`"`, 255))},
	{"every visible character but two", []string{"!#$%&'()*+-./:;<=>?@[\\]^_`{|}~"}, "!#$%&'()*+-./:;<=>?@[\\]^_`{|}~"},
	{"quoted comma and blank", []string{`"a, b"`}, "a, b"},
	{"quoted blanks at the ends", []string{`" a "`}, " a "},
	{"escapes", []string{`"a\"b\\c"`}, `a"b\c`},
	{"bare backslash", []string{`a\"`[:2]}, `a\`},

	{"empty", []string{""}, ""},
	{"only blanks", []string{" \t "}, ""},
	{"quoted empty", []string{`""`}, ""},
	{"quoted blanks", []string{`"  "`}, ""},
	{"sent twice", []string{uuid, uuid}, ""},
	{"sent twice, once empty", []string{"", uuid}, ""},
	{"joined", []string{uuid + ", " + uuid}, ""},
	{"joined without blank", []string{"a,b"}, ""},
	{"joined strings", []string{`"a", "a"`}, ""},
	{"256 characters", []string{strings.Repeat("k", 256)}, ""},
	{"256 characters quoted", []string{`"` + strings.Repeat("k", 256) + `"`}, ""},
	{"10 000 characters", []string{strings.Repeat("k", 10_000)}, ""},
	{"no closing quote", []string{`"abc`}, ""},
	{"only a quote", []string{`"`}, ""},
	{"escaped closing quote", []string{`"abc\"`}, ""},
	{"unfinished escape", []string{`"abc\`}, ""},
	{"unknown escape", []string{`"a\nb"`}, ""},
	{"quote inside", []string{`ab"c`}, ""},
	{"quote at the end", []string{`abc"`}, ""},
	{"parameter", []string{`"abc";q=1`}, ""},
	{"text behind the string", []string{`"abc" d`}, ""},
	{"byte 0xE9", []string{"caf\xe9"}, ""},
	{"quoted byte 0xE9", []string{"\"caf\xe9\""}, ""},
	{"UTF-8", []string{"ключ"}, ""},
	{"inner TAB", []string{"a\tb"}, ""},
	{"quoted TAB", []string{"\"a\tb\""}, ""},
	{"inner blank", []string{"a b"}, ""},
	{"DEL", []string{"a\x7f"}, ""},
	{"NUL", []string{"a\x00b"}, ""},
}

func TestParseHeader(t *testing.T) {
	for _, c := range headers {
		t.Run(c.name, func(t *testing.T) {
			key, present, err := idempotency.ParseHeader(c.lines)
			if key != c.key || !present {
				t.Errorf("key %q, present %t; want %q, true", key, present, c.key)
			}
			if refused := c.key == ""; errors.Is(err, idempotency.ErrInvalidKey) != refused {
				t.Errorf("error %v, refused %t", err, refused)
			}
		})
	}

	t.Run("absent", func(t *testing.T) {
		for _, lines := range [][]string{nil, {}} {
			if key, present, err := idempotency.ParseHeader(lines); key != "" || present || err != nil {
				t.Errorf("no header: %q, %t, %v", key, present, err)
			}
		}
	})

	t.Run("never repeats the value in its error", func(t *testing.T) {
		for _, line := range []string{"secret\xe9", "secret,", `"secret`, `"secret\x"`, `"secret";p`, strings.Repeat("secret", 50)} {
			if _, _, err := idempotency.ParseHeader([]string{line}); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v", err)
			}
		}
	})
}

// quote writes value as a String of RFC 8941.
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

func TestParseHeaderProperty(t *testing.T) {
	t.Run("a quoted key is its value, and so is the bare one where it is allowed", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			value := rapid.StringMatching(`[ -~]{0,20}[!-~][ -~]{0,20}`).Draw(t, "value")
			if key, _, err := idempotency.ParseHeader([]string{quote(value)}); string(key) != value || err != nil {
				t.Errorf("quoted %q gave %q, %v", value, key, err)
			}
			key, _, err := idempotency.ParseHeader([]string{value})
			bare := !strings.ContainsAny(strings.Trim(value, " "), ` ",`)
			if bare && (err != nil || string(key) != strings.Trim(value, " ")) || !bare && err == nil && value[0] != '"' {
				t.Errorf("bare %q gave %q, %v", value, key, err)
			}
		})
	})
}

func FuzzParseHeader(f *testing.F) {
	for _, c := range headers {
		f.Add(c.lines[0])
	}
	f.Fuzz(func(t *testing.T, line string) {
		key, present, err := idempotency.ParseHeader([]string{line})
		if !present {
			t.Fatalf("%q is absent", line)
		}
		if err != nil {
			if key != "" || !errors.Is(err, idempotency.ErrInvalidKey) {
				t.Fatalf("%q: key %q, error %v", line, key, err)
			}
			return
		}
		if len(key) < 1 || len(key) > 255 || strings.ContainsFunc(string(key), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q gave the key %q", line, key)
		}
		again, _, err := idempotency.ParseHeader([]string{quote(string(key))})
		if err != nil || again != key {
			t.Fatalf("%q gave %q, and that quoted %q, %v", line, key, again, err)
		}
	})
}
