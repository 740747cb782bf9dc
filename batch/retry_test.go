package batch_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/batch"
)

var errConflict, errTaken, errBroken = errors.New("conflict"), errors.New("taken"), errors.New("broken")

func classOf(err error) batch.Class {
	switch err {
	case errConflict:
		return batch.Again
	case errTaken:
		return batch.Busy
	}
	return batch.Failed
}

func TestRetry_goes_on_while_that_can_help(t *testing.T) {
	for name, c := range map[string]struct {
		failures []error
		runs     int
		want     error
	}{
		"at once":                {nil, 1, nil},
		"conflicts pass":         {[]error{errConflict, errTaken, errConflict, errConflict, errTaken}, 6, nil},
		"a broken store doesn't": {[]error{errTaken, errBroken, errTaken}, 2, errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			err := batch.Retry(t.Context(), classOf, func() error {
				runs++
				if runs > len(c.failures) {
					return nil
				}
				return c.failures[runs-1]
			})
			if !errors.Is(err, c.want) || runs != c.runs {
				t.Errorf("error %v after %d runs, want %v after %d", err, runs, c.want, c.runs)
			}
		})
	}
}

func TestRetry_ends_with_its_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	err := batch.Retry(ctx, classOf, func() error {
		if runs++; runs == 3 {
			cancel()
		}
		return errTaken
	})
	if !errors.Is(err, errTaken) || runs != 3 {
		t.Errorf("error %v after %d runs", err, runs)
	}
}

func TestEach_decides_in_order(t *testing.T) {
	var asked []string
	got := batch.Each([]string{"1", "x", "2"}, func(s string) (int, error) {
		asked = append(asked, s)
		return strconv.Atoi(s)
	})
	if diff := cmp.Diff([]string{"1", "x", "2"}, asked); diff != "" {
		t.Error(diff)
	}
	if len(got) != 3 || got[0].Value != 1 || got[1].Err == nil || got[2].Value != 2 || got[0].Err != nil || got[2].Err != nil {
		t.Errorf("%+v", got)
	}
}
