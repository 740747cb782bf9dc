package httpapi

import (
	"strings"
	"unicode/utf8"
)

// pointerOf turns a location as huma writes it (body.lines[0].quantity, query.limit) into a JSON pointer. A member name
// with a dot or bracket in it comes out as several steps: only unknown members have such names, and they are refused
// either way.
func pointerOf(location string) string {
	start := strings.IndexAny(location, ".[")
	if start < 0 {
		return ""
	}
	var b strings.Builder
	for _, r := range location[start:] {
		switch r {
		case '.', '[':
			b.WriteByte('/')
		case ']':
		case '~':
			b.WriteString("~0")
		case '/':
			b.WriteString("~1")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cut shortens a pointer to what is worth reading, and makes it text: it may come from a body that is none.
func cut(pointer string) string {
	pointer = strings.ToValidUTF8(pointer, "\uFFFD")
	if len(pointer) <= maxPointerBytes {
		return pointer
	}
	end := maxPointerBytes
	for !utf8.RuneStart(pointer[end]) {
		end--
	}
	return strings.TrimSuffix(pointer[:end], "~") // half an escape is no pointer
}
