package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// printable makes a stranger's text harmless for a terminal: what doesn't print is escaped as in JSON, but for the
// characters in keep.
func printable(text, keep string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) || strings.ContainsRune(keep, r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// showBytes shows bytes on one line. What is no text says so.
func showBytes(b []byte) string {
	switch {
	case b == nil:
		return "(none)"
	case !utf8.Valid(b):
		return "(base64) " + base64.StdEncoding.EncodeToString(b)
	}
	return printable(string(b), "")
}

// showValue shows a record's value, indented if it is JSON.
func showValue(value []byte) string {
	if !utf8.Valid(value) || value == nil {
		return showBytes(value)
	}
	indented := jsontext.Value(value).Clone()
	if indented.Indent() == nil {
		value = indented
	}
	return printable(string(value), "\n\t")
}
