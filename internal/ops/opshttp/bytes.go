package opshttp

import (
	"errors"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bytes are what a stranger put into a record. In JSON they are {"text": …} if they are valid UTF-8 and else
// {"base64": …}, so that no text can be taken for an encoding of something else; nil is null.
type Bytes []byte

// wireBytes is one of the two forms. A pointer tells an empty text from none.
type wireBytes struct {
	Text   *string `json:"text,omitzero"`
	Base64 *[]byte `json:"base64,omitzero"`
}

// MarshalJSONTo writes the form that fits.
func (b Bytes) MarshalJSONTo(e *jsontext.Encoder) error {
	switch {
	case b == nil:
		return e.WriteToken(jsontext.Null)
	case utf8.Valid(b):
		return json.MarshalEncode(e, wireBytes{Text: new(string(b))})
	}
	return json.MarshalEncode(e, wireBytes{Base64: (*[]byte)(&b)})
}

// UnmarshalJSONFrom reads either form.
func (b *Bytes) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == 'n' {
		*b = nil
		return d.SkipValue()
	}
	var w wireBytes
	if err := json.UnmarshalDecode(d, &w); err != nil {
		return err
	}
	switch {
	case w.Text != nil && w.Base64 == nil:
		*b = Bytes(*w.Text)
	case w.Text == nil && w.Base64 != nil:
		*b = *w.Base64
	default:
		return errors.New("bytes must be either text or base64")
	}
	return nil
}

// Schema documents the forms.
func (Bytes) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"text":   {Type: huma.TypeString, Description: "The bytes, if they are valid UTF-8."},
			"base64": {Type: huma.TypeString, ContentEncoding: "base64", Description: "The bytes, if they are not."},
		},
	}
}
