package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// located separates pointer and detail in the text of a [decodeError]. huma hands on nothing of an error but its text.
const located = "\x00"

var (
	errNull = errors.New("null")

	strict    = json.RejectUnknownMembers(true)
	withNulls = json.JoinOptions(strict, json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))

	output = json.JoinOptions(json.Deterministic(true), json.WithMarshalers(json.MarshalToFunc(writeUTC)))
)

// refuseNull is asked about every value. That doubles the cost of reading, so it is only in force for bodies in which
// the letters of a null occur.
func refuseNull(d *jsontext.Decoder, _ any) error {
	if d.PeekKind() == 'n' {
		return errNull
	}
	return errors.ErrUnsupported // go on as if this function did not exist
}

func writeUTC(e *jsontext.Encoder, t time.Time) error {
	return e.WriteToken(jsontext.String(t.UTC().Format(time.RFC3339Nano)))
}

// decode reads one JSON text strictly. Its errors name no Go type and no value.
func decode(data []byte, v any) error {
	options := strict
	if bytes.Contains(data, []byte("null")) {
		options = withNulls
	}
	if err := json.Unmarshal(data, v, options); err != nil {
		return describe(err)
	}
	if bytes.Contains(data, []byte(`\u0000`)) {
		return refuseNUL(data)
	}
	return nil
}

// refuseNUL refuses the one character that JSON has and a PostgreSQL text has not.
func refuseNUL(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return describe(err)
		case token.Kind() == '"' && strings.Contains(token.String(), "\x00"):
			return &decodeError{string(d.StackPointer()), "must not contain the character U+0000"}
		}
	}
}

// encodeTo writes in one piece. A value that can't be encoded is a fault of the program and panics before anything is
// written, so that it becomes a 500; huma would send half an answer. A client that has gone is no error at all.
func encodeTo(w io.Writer, v any) error {
	data, err := Encode(v)
	if err != nil {
		panic(fmt.Errorf("encode answer: %w", err))
	}
	_, _ = w.Write(data)
	return nil
}

// Encode returns the bytes that the API answers with for v: times in UTC, a nil slice as [].
func Encode(v any) ([]byte, error) { return json.Marshal(v, output) }

type decodeError struct{ pointer, detail string }

func (e *decodeError) Error() string { return e.pointer + located + e.detail }

func describe(err error) *decodeError {
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic):
		return &decodeError{string(syntactic.JSONPointer), syntaxDetail(syntactic)}
	case errors.As(err, &semantic):
		return &decodeError{string(semantic.JSONPointer), valueDetail(semantic)}
	default:
		return &decodeError{"", "has an invalid value"}
	}
}

func syntaxDetail(err *jsontext.SyntacticError) string {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return "occurs more than once"
	}
	return "the body is not one valid JSON text in UTF-8"
}

func valueDetail(err *json.SemanticError) string {
	switch {
	case errors.Is(err, errNull):
		return "must not be null"
	case errors.Is(err, json.ErrUnknownName):
		return "is not a known member"
	case errors.Is(err, errNotUUID):
		return errNotUUID.Error()
	case err.GoType == nil:
		return "has an invalid value"
	}
	switch err.GoType.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "must be an integer in range, without fraction or exponent"
	case reflect.Bool:
		return "must be true or false"
	case reflect.String:
		return "must be a string"
	case reflect.Slice:
		return "must be an array"
	default:
		return "has an invalid value"
	}
}
