package httpapi

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// Answer is a body with the operation's first status of success.
type Answer[T any] struct {
	Body T
}

// OK returns an [Answer].
func OK[T any](body T) *Answer[T] { return &Answer[T]{Body: body} }

// Created is a body with the place of the resource that it shows: 201 if the request made it, 200 if it was there.
type Created[T any] struct {
	Status   int
	Location string `header:"Location"`
	Body     T
}

// Put returns a [Created].
func Put[T any](created bool, location string, body T) *Created[T] {
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return &Created[T]{Status: status, Location: location, Body: body}
}

// Replayable is the answer of an operation that honours keys. Location is empty where nothing is created.
type Replayable[T any] struct {
	Status   int
	Location string `header:"Location"`
	Replayed string `header:"Idempotent-Replayed" enum:"true"`
	Body     T
}

// Done is the answer of the request that did the work.
func Done[T any](status int, location string, body T) *Replayable[T] {
	return &Replayable[T]{Status: status, Location: location, Body: body}
}

// Replay is the answer to a repeat: with the same location as the first, and marked.
func Replay[T any](status int, location string, body T) *Replayable[T] {
	return &Replayable[T]{Status: status, Location: location, Replayed: "true", Body: body}
}

// Saved is a body that was encoded earlier by [Encode] and is sent byte for byte, though documented as T.
type Saved[T any] struct{ raw []byte }

// Verbatim returns a [Saved] over bytes that [Encode] made from a T.
func Verbatim[T any](encoded []byte) Saved[T] { return Saved[T]{raw: encoded} }

// MarshalJSONTo writes the saved bytes.
func (s Saved[T]) MarshalJSONTo(e *jsontext.Encoder) error { return e.WriteValue(s.raw) }

// Schema is T's.
func (Saved[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
