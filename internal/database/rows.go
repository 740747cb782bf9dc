package database

import (
	"context"
	"errors"
	"iter"
)

var errEnough = errors.New("nobody takes more rows")

// Rows is the result of a query as a sequence, read from one snapshot while somebody takes from it, so that results of
// any size fit. An error is the last that it yields.
func Rows[T any](ctx context.Context, db *SQLite, scan func(Row) T, query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := db.Read(ctx, func(c *Conn) error {
			return c.Query(query, func(r Row) error {
				if !yield(scan(r), nil) {
					return errEnough
				}
				return nil
			}, args...)
		})
		if err != nil && !errors.Is(err, errEnough) {
			var none T
			yield(none, err)
		}
	}
}
