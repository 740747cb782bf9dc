package httpapi

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

var errNotUUID = errors.New("must be a UUID of 36 characters")

// ID is a UUID in a path, a query or a body. Unlike [uuid.UUID] it reads one form only: 36 characters, upper or lower
// case, no braces and no urn. In a path any other text is a 404, elsewhere a 400.
type ID uuid.UUID

// UUID returns the id as the type that services use.
func (id ID) UUID() uuid.UUID { return uuid.UUID(id) }

// String is the canonical lower-case form.
func (id ID) String() string { return uuid.UUID(id).String() }

// MarshalText writes the canonical lower-case form.
func (id ID) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText reads 36 characters in either case.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != 36 {
		return errNotUUID
	}
	u, err := uuid.ParseBytes(text)
	if err != nil {
		return errNotUUID
	}
	*id = ID(u)
	return nil
}

// Schema documents the form.
func (ID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
}
