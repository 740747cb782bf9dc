package httpapi

import (
	"encoding/base64"

	"github.com/go-json-experiment/json"

	"kuhnya/internal/fault"
)

// cursorVersion begins every cursor, so that their content may change.
const cursorVersion = 1

// Page is the part of an input that asks for one page of a list; embed it.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"The most items that the answer may have."`
	Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the page before; absent for the first page."`
}

// List is the body that shows one page.
type List[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Asks for the next page; absent on the last one."`
}

// ListOf shows one page of rows that were read with a limit of page.Limit+1: the row too many only says that there is
// another page. position is what the next page is read after.
func ListOf[Row, T, P any](page Page, rows []Row, show func(Row) T, position func(Row) P) (List[T], error) {
	var list List[T]
	if len(rows) > page.Limit {
		rows = rows[:page.Limit]
		next, err := EncodeCursor(position(rows[len(rows)-1]))
		if err != nil {
			return list, err
		}
		list.NextCursor = next
	}
	list.Items = make([]T, len(rows))
	for i, row := range rows {
		list.Items[i] = show(row)
	}
	return list, nil
}

// EncodeCursor makes an opaque cursor of what is needed to go on: the sort key of the last item shown.
func EncodeCursor[T any](position T) (string, error) {
	data, err := json.Marshal(position, output)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append([]byte{cursorVersion}, data...)), nil
}

// DecodeCursor reads what [EncodeCursor] made; first is true, and position zero, if there is no cursor. A cursor is not
// signed: whoever makes one up chooses where a list begins, and nothing else. Anything else is an invalid_request.
func DecodeCursor[T any](cursor string) (position T, first bool, err error) {
	if cursor == "" {
		return position, true, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(data) > 0 && decode(data[1:], &position) == nil {
		// Only one spelling is given out; this also covers the version.
		if same, err := EncodeCursor(position); err == nil && same == cursor {
			return position, false, nil
		}
	}
	var none T
	return none, false, fault.Invalid("/cursor", "is not a cursor that this list gave out")
}
