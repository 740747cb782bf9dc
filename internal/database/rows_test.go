package database_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/database"
)

func numbersOf(t *testing.T, db *database.SQLite, query string, most int) (numbers []int64, err error) {
	t.Helper()
	for n, err := range database.Rows(t.Context(), db, func(r database.Row) int64 { return r.Int(0) }, query) {
		if err != nil {
			return numbers, err
		}
		if numbers = append(numbers, n); len(numbers) == most {
			break
		}
	}
	return numbers, nil
}

const endless = `WITH RECURSIVE endless (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM endless) SELECT i FROM endless`

func TestRows(t *testing.T) {
	db := fresh(t)
	must(t, db.Write(t.Context(), insert(1)))
	must(t, db.Write(t.Context(), insert(2)))
	t.Run("gives all", func(t *testing.T) {
		numbers, err := numbersOf(t, db, `SELECT n FROM numbers ORDER BY n`, 100)
		must(t, err)
		if diff := cmp.Diff([]int64{1, 2}, numbers); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("reads no more than is taken, and gives its connection back", func(t *testing.T) {
		for range readers + 1 {
			numbers, err := numbersOf(t, db, endless, 3)
			must(t, err)
			if diff := cmp.Diff([]int64{1, 2, 3}, numbers); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
	t.Run("ends with an error", func(t *testing.T) {
		numbers, err := numbersOf(t, db, `SELECT abs(-9223372036854775807 + 1 - n) FROM numbers`, 100)
		if err == nil || len(numbers) != 1 {
			t.Errorf("%v, error %v", numbers, err)
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		for _, err := range database.Rows(ended(), db, func(r database.Row) int64 { return r.Int(0) }, endless) {
			if err == nil {
				t.Fatal("a row was read")
			}
		}
	})
	t.Run("sees one snapshot", func(t *testing.T) {
		var numbers []int64
		for n, err := range database.Rows(t.Context(), db, func(r database.Row) int64 { return r.Int(0) }, `SELECT n FROM numbers ORDER BY n`) {
			must(t, err)
			numbers = append(numbers, n)
			must(t, db.Write(t.Context(), insert(n+10)))
		}
		if diff := cmp.Diff([]int64{1, 2}, numbers); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
