package consume

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func TestMessage(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"short text stays", "no such order", "no such order"},
		{"512 bytes stay", strings.Repeat("x", 512), strings.Repeat("x", 512)},
		{"513 bytes are cut", strings.Repeat("x", 513), strings.Repeat("x", 512)},
		{"no character is cut in two", "x" + strings.Repeat("я", 300), "x" + strings.Repeat("я", 255)},
		{"broken UTF-8 is replaced", "a\xffb", "a\uFFFDb"},
		{"NUL is replaced", "a\x00b", "a\uFFFDb"},
	} {
		if got := message(errors.New(c.text)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		got := message(errors.New(string(rapid.SliceOfN(rapid.Byte(), 0, 1000).Draw(t, "text"))))
		if len(got) > 512 || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Fatalf("unfit text of %d bytes: %q", len(got), got)
		}
	})
}

func TestRedriveCount(t *testing.T) {
	for value, want := range map[string]int{"": 0, "3": 3, "-1": 0, "x": 0, "99999999999": 0, "2147483647": 2147483647} {
		headers := []kgo.RecordHeader{{Key: HeaderRedriveCount, Value: []byte(value)}}
		if got := redriveCount(headers); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
	if got := redriveCount(nil); got != 0 {
		t.Errorf("no header: %d, want 0", got)
	}
}
