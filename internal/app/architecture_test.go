package app

import (
	"os/exec"
	"strings"
	"testing"
)

// technology is what rules must not know.
var technology = []string{"net/http", "database/sql", "github.com/ncruces/", "github.com/twmb/", "github.com/danielgtaylor/"}

func TestRules_know_no_technology(t *testing.T) {
	for _, rules := range []string{
		"batch", "idempotency", "outbox", "internal/kitchen", "internal/establishment", "internal/bonus", "internal/event", "internal/lifecycle",
		"internal/money", "internal/fault", "internal/audit",
	} {
		for _, dep := range deps(t, rules) {
			for _, forbidden := range technology {
				if dep == forbidden || strings.HasSuffix(forbidden, "/") && strings.HasPrefix(dep, forbidden) {
					t.Errorf("%s depends on %s", rules, dep)
				}
			}
		}
	}
}

func TestServices_do_not_know_each_other(t *testing.T) {
	for _, service := range Services {
		for _, room := range list(t, "./../"+service+"/...") {
			for _, dep := range imports(t, room) {
				for _, other := range Services {
					if other != service && strings.HasPrefix(dep, "kuhnya/internal/"+other) {
						t.Errorf("%s imports %s", room, dep)
					}
				}
			}
		}
	}
}

func TestRoot_packages_do_not_import_internal_ones(t *testing.T) {
	for _, root := range []string{"batch", "idempotency", "outbox", "consume"} {
		for _, pkg := range list(t, "./../../"+root+"/...") {
			for _, dep := range imports(t, pkg) {
				if strings.HasPrefix(dep, "kuhnya/internal/") {
					t.Errorf("%s imports %s", pkg, dep)
				}
			}
		}
	}
}

func list(t *testing.T, pattern string) []string {
	t.Helper()
	return goList(t, pattern)
}

func deps(t *testing.T, pkg string) []string {
	t.Helper()
	return goList(t, "-deps", "kuhnya/"+pkg)
}

func imports(t *testing.T, pkg string) []string {
	t.Helper()
	return goList(t, "-f", `{{range .Imports}}{{println .}}{{end}}`, pkg)
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}
