package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	keep(t,
		promise{"names what is wrong and fails", auditViolations},
		promise{"looks at a running server, but can't compare its services", auditRunning},
	)
}

// auditViolations damages the data of a stopped server in one way after the other.
func auditViolations(t *testing.T) {
	s := soloSite(t)
	v := openVenue(t, s, counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	s.kitchen.stop(t)
	for _, damage := range []struct {
		name, do, undo string
		invariant      int
	}{
		{"stock", "UPDATE dishes SET stock = stock + 1", "UPDATE dishes SET stock = stock - 1", 1},
		{"history", "UPDATE order_status_events SET seq = 2", "UPDATE order_status_events SET seq = 1", 3},
		{"status", "UPDATE orders SET status = 'accepted'", "UPDATE orders SET status = 'placed'", 3},
	} {
		execute(t, s, damage.do)
		wantViolation(t, s, damage.name, damage.invariant)
		execute(t, s, damage.undo)
	}
}

func wantViolation(t *testing.T, s *site, name string, invariant int) {
	t.Helper()
	r := command(t, "audit", "--json", "--data", s.data)
	var report struct {
		Violations []struct {
			Invariant int `json:"invariant"`
		} `json:"violations"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	for _, found := range report.Violations {
		if found.Invariant == invariant && r.code == 1 {
			return
		}
	}
	t.Errorf("%s: exit code %d, stdout %s, want invariant %d", name, r.code, r.stdout, invariant)
}

func auditRunning(t *testing.T) {
	s := sharedSite(t)
	if r := command(t, "audit", "--data", s.data); r.code != 0 {
		t.Errorf("live: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := command(t, "audit", "--at-rest", "--data", s.data); r.code != 3 || !strings.HasPrefix(r.stderr, "kuhnya: not at rest") {
		t.Errorf("at rest: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}
