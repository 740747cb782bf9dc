package idempotency

import (
	"errors"
	"fmt"
	"strings"
)

// Header is the name of the request header that carries a key, in canonical form (draft-ietf-httpapi-idempotency-key-header).
const Header = "Idempotency-Key"

// MaxKeyLength is the length in bytes of the longest key, after decoding.
const MaxKeyLength = 255

// ErrInvalidKey is wrapped by every refusal of [ParseHeader].
var ErrInvalidKey = errors.New("invalid idempotency key")

// Key is the value inside an Idempotency-Key header: 1 to 255 characters of printable ASCII, compared byte by byte.
type Key string

// ParseHeader reads the lines of the header, as in r.Header[Header]. No line at all means that there is no key. One
// line holds the key either bare, as visible ASCII without quotes and commas, or as a String of RFC 8941, which may
// hold any printable ASCII but takes no parameters here; both spellings of a value are the same key. Anything else is an
// error that wraps [ErrInvalidKey] and says what is wrong without repeating the value.
func ParseHeader(lines []string) (key Key, present bool, err error) {
	if len(lines) == 0 {
		return "", false, nil
	}
	if len(lines) > 1 {
		return "", true, invalid("the header must be sent once, not %d times", len(lines))
	}
	value, err := decode(strings.Trim(lines[0], " \t"))
	if err != nil {
		return "", true, err
	}
	if len(value) > MaxKeyLength {
		return "", true, invalid("longer than %d bytes", MaxKeyLength)
	}
	return Key(value), true, nil
}

func decode(line string) (string, error) {
	if line == "" {
		return "", invalid("empty")
	}
	if line[0] == '"' {
		return decodeQuoted(line[1:])
	}
	return line, checkBare(line)
}

// checkBare refuses what can't be told from another spelling: a quote opens a String, and a comma is how proxies join
// repeated lines.
func checkBare(line string) error {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"' || c == ',':
			return invalid("quote or comma at byte %d; such a key must be a quoted string", i)
		case c <= ' ' || c > '~':
			return invalid("byte %d is not visible ASCII", i)
		}
	}
	return nil
}

// decodeQuoted reads a String of RFC 8941, section 4.2.5, behind its opening quote.
func decodeQuoted(rest string) (string, error) {
	var value strings.Builder
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return value.String(), checkQuoted(value.String(), rest[i+1:])
		case c < ' ' || c > '~':
			return "", invalid("byte %d of the quoted string is not printable ASCII", i)
		case c == '\\':
			if i++; i == len(rest) || rest[i] != '"' && rest[i] != '\\' {
				return "", invalid(`in a quoted string a backslash may stand only before " or \`)
			}
			fallthrough
		default:
			value.WriteByte(rest[i])
		}
	}
	return "", invalid("the closing quote is missing")
}

func checkQuoted(value, behind string) error {
	if behind != "" {
		return invalid("nothing may follow the quoted string")
	}
	if strings.Trim(value, " ") == "" {
		return invalid("the quoted string is blank")
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidKey, fmt.Sprintf(format, args...))
}
