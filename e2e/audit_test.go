package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	keep(t,
		promise{"names what is wrong and fails", auditViolations},
		promise{"a row that can't be published is listed and excuses its order", auditParked},
		promise{"refuses a schema of another version and leaves it alone", auditOtherSchema},
		promise{"one database is checked for what holds within it", auditKitchenAlone},
	)
}

// report is what audit --json prints.
type report struct {
	Databases  []string
	Violations []struct {
		Invariant int
		Subject   string
	}
	Parked []parked
	AtRest *bool `json:"at_rest"`
	Detail string
}

type parked struct {
	Database, Key, Reason string
	ID                    int64
}

// readReport audits and reads the report, in which no list may be missing.
func readReport(t *testing.T, code int, args ...string) (r report) {
	t.Helper()
	result := command(t, append([]string{"audit", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(result.stdout), &r); err != nil || result.code != code || r.Violations == nil || r.Parked == nil {
		t.Fatalf("exit code %d, %v: %s%s", result.code, err, result.stdout, result.stderr)
	}
	return r
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
		wantViolation(t, readReport(t, 1, "--data", s.data), damage.name, damage.invariant)
		execute(t, s, damage.undo)
	}
	execute(t, s, "UPDATE orders SET status = 'accepted'")
	r := readReport(t, 1, "--at-rest", "--data", s.data)
	wantViolation(t, r, "order "+id, 6)
	if r.AtRest == nil || !*r.AtRest || r.Detail != "" {
		t.Errorf("at rest %v, %q", r.AtRest, r.Detail)
	}
	execute(t, s, "UPDATE orders SET status = 'placed'")
}

func wantViolation(t *testing.T, r report, name string, invariant int) {
	t.Helper()
	for _, found := range r.Violations {
		if found.Invariant == invariant {
			return
		}
	}
	t.Errorf("%s: %+v, want invariant %d", name, r, invariant)
}

// auditParked has an order whose record nobody ever got.
func auditParked(t *testing.T) {
	s := soloSite(t)
	v := openVenue(t, s, counted("pelmeni", 100))
	id := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, id)
	s.kitchen.stop(t)
	execute(t, s, "UPDATE orders SET status = 'accepted', seq = 2")
	execute(t, s, "INSERT INTO order_status_events SELECT order_id, 2, 'placed', 'accepted', '', '', NULL, 1, at, at FROM order_status_events")
	wantViolation(t, readReport(t, 1, "--at-rest", "--data", s.data), "order "+id, 6)
	execute(t, s, "INSERT INTO outbox_parked VALUES (9, x'01', 'kuhnya.orders', '"+id+"', x'', NULL, 1, 'too large', 1)")
	r := readReport(t, 0, "--at-rest", "--data", s.data)
	if want := (parked{Database: "kitchen", ID: 9, Key: id, Reason: "too large"}); len(r.Parked) != 1 || r.Parked[0] != want || !*r.AtRest {
		t.Errorf("%+v, want %+v parked", r, want)
	}
	text := command(t, "audit", "--data", s.data).stdout
	for _, part := range []string{"kitchen", " 9 ", id, "too large"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
}

func auditOtherSchema(t *testing.T) {
	s := soloSite(t)
	s.kitchen.stop(t)
	for _, schema := range []struct{ do, undo string }{
		{"INSERT INTO schema_kitchen (version_id, is_applied) VALUES (999, 1)", "DELETE FROM schema_kitchen WHERE version_id = 999"},
		{"UPDATE schema_messages SET version_id = -1 WHERE version_id = 1", "UPDATE schema_messages SET version_id = 1 WHERE version_id = -1"},
		{"ALTER TABLE schema_messages RENAME TO hidden", "ALTER TABLE hidden RENAME TO schema_messages"},
	} {
		execute(t, s, schema.do)
		before := contents(t, s.data)
		wantRefused(t, command(t, "audit", "--data", s.data))
		wantRefused(t, command(t, "audit", "--at-rest", "--json", "--data", s.data))
		for name, content := range contents(t, s.data) {
			if content != before[name] {
				t.Errorf("%s has changed", name)
			}
		}
		execute(t, s, schema.undo)
	}
}

// contents are the files of a folder, not of those within it.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if !e.IsDir() {
			content, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(content)
		}
	}
	return files
}

func auditKitchenAlone(t *testing.T) {
	data := absent(t)
	if r := command(t, "migrate", "--data", data); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for _, service := range []string{"establishment", "bonus"} {
		if err := os.Remove(filepath.Join(data, service+".db")); err != nil {
			t.Fatal(err)
		}
	}
	if r := command(t, "audit", "--data", data); r.code != 0 || r.stdout != "no violations; checked kitchen\n" {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	r := command(t, "audit", "--at-rest", "--data", data)
	wantRefused(t, r)
	if !strings.Contains(r.stderr, "establishment") {
		t.Errorf("stderr doesn't say what is missing: %s", r.stderr)
	}
}
