package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kuhnya/internal/fault"
)

func TestError_keeps_its_cause_from_people_and_gives_it_to_programs(t *testing.T) {
	cause := errors.New("disk full")
	bare := fault.New(fault.Unavailable, "try %s", "later")
	because := bare.Because(cause)
	if !errors.Is(because, cause) || because.Detail != "try later" {
		t.Errorf("%+v", because)
	}
	if got, want := because.Error(), "unavailable: try later: disk full"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := bare.Error(), "unavailable: try later"; got != want || errors.Unwrap(bare) != nil {
		t.Errorf("%q, want %q: a refusal changed by one made of it", got, want)
	}
}

func TestWith_leaves_the_refusal_it_was_made_of(t *testing.T) {
	base := fault.New(fault.OutOfStock, "2 left").With("left", 2)
	soup, tea := base.With("dish", "soup"), base.With("dish", "tea").With("left", 1)
	for _, c := range []struct {
		got  *fault.Error
		want map[string]any
	}{
		{base, map[string]any{"left": 2}},
		{soup, map[string]any{"left": 2, "dish": "soup"}},
		{tea, map[string]any{"left": 1, "dish": "tea"}},
	} {
		if diff := cmp.Diff(c.want, c.got.Fields); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestInvalid_blames_a_part(t *testing.T) {
	err := fault.Invalid("/lines/0/quantity", "must be 1 to %d", 100)
	if err.Code != fault.InvalidRequest || err.Detail != "must be 1 to 100" {
		t.Errorf("%+v", err)
	}
	if diff := cmp.Diff([]fault.Pointer{{Pointer: "/lines/0/quantity", Detail: "must be 1 to 100"}}, err.Pointers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCodeOf(t *testing.T) {
	refusal := fault.New(fault.NotFound, "no such order")
	for _, c := range []struct {
		err  error
		want fault.Code
	}{
		{nil, ""},
		{errors.New("not_found"), ""},
		{refusal, fault.NotFound},
		{fmt.Errorf("cancel: %w", refusal), fault.NotFound},
		{errors.Join(errors.New("close"), refusal), fault.NotFound},
		{fault.New(fault.Internal, "no").Because(refusal), fault.Internal},
	} {
		if got := fault.CodeOf(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
