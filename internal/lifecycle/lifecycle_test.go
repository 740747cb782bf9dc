package lifecycle

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The whole table once more, written down independently: every party, every pair of statuses.
var want = map[Party]map[Status]string{
	Customer: {Placed: "cancelled", Accepted: "cancelled"},
	Staff: {
		Placed: "accepted rejected", Accepted: "cooking cancelled", Cooking: "ready cancelled", Ready: "completed cancelled",
	},
	System: {Placed: "rejected"},
}

func TestMay_is_the_table_and_nothing_else(t *testing.T) {
	for _, party := range []Party{Customer, Staff, System, "stranger"} {
		for _, from := range Statuses {
			for _, to := range Statuses {
				expected := slices.Contains(strings.Fields(want[party][from]), string(to))
				if got := May(party, from, to); got != expected {
					t.Errorf("%s from %s to %s: got %v", party, from, to, got)
				}
				if err := Check(party, from, to); (err == nil) != expected {
					t.Errorf("check %s from %s to %s: %v", party, from, to, err)
				}
			}
		}
	}
}

func TestNo_status_is_entered_twice(t *testing.T) {
	for _, s := range Statuses {
		if Reachable(s, s) {
			t.Errorf("%s leads back to itself", s)
		}
		if s != Placed && !Reachable(Placed, s) {
			t.Errorf("%s can't be entered", s)
		}
	}
}

func TestTerminal_statuses_lead_nowhere_and_others_do(t *testing.T) {
	for _, from := range Statuses {
		leads := slices.ContainsFunc(Statuses, func(to Status) bool { return Reachable(from, to) })
		if leads == from.Terminal() {
			t.Errorf("%s: terminal %v, leads on %v", from, from.Terminal(), leads)
		}
	}
}

func TestReachable_follows_several_changes(t *testing.T) {
	for _, c := range []struct {
		from, to Status
		want     bool
	}{
		{Accepted, Cooking, true}, {Accepted, Completed, true}, {Placed, Rejected, true}, {Ready, Cancelled, true},
		{Cooking, Accepted, false}, {Accepted, Rejected, false}, {Accepted, Accepted, false}, {Cancelled, Cancelled, false},
	} {
		if got := Reachable(c.from, c.to); got != c.want {
			t.Errorf("%s to %s: got %v", c.from, c.to, got)
		}
	}
}

func TestPassed_is_what_no_path_can_avoid(t *testing.T) {
	for s, expected := range map[Status][]Status{
		Placed:    {Placed},
		Accepted:  {Placed, Accepted},
		Completed: {Placed, Accepted, Cooking, Ready, Completed},
		Rejected:  {Placed, Rejected},
		Cancelled: {Placed, Cancelled},
	} {
		if diff := cmp.Diff(expected, Passed(s)); diff != "" {
			t.Errorf("%s: %s", s, diff)
		}
	}
}

func TestActions_name_every_status_but_placed(t *testing.T) {
	reached := map[Status]bool{}
	for action, target := range targets {
		reached[target] = true
		if got, ok := action.Target(); !ok || got != target {
			t.Errorf("%s: got %s, %v", action, got, ok)
		}
	}
	for _, s := range Statuses {
		if reached[s] == (s == Placed) {
			t.Errorf("%s: reached by an action: %v", s, reached[s])
		}
	}
}
