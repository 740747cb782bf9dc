package docs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	quoted    = regexp.MustCompile("`([^`\n]+)`")
	pair      = regexp.MustCompile("`([\\w/]+\\.go)`: (`[\\w.]+`(?:, `[\\w.]+`)*)")
	file      = regexp.MustCompile(`^[\w/]+\.(go|sql)$`)
	test      = regexp.MustCompile(`^(Test\w+(/|$)|…/)`)
	qualified = regexp.MustCompile(`^[a-z]+\.[A-Z]\w*(\.\w+)?$`)
	snake     = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
)

// TestMechanisms_names_what_exists: each file, each name in it, each test, and each index and code.
func TestMechanisms_names_what_exists(t *testing.T) {
	s, text := read(t), document(t, "MECHANISMS.md")
	checked := map[string]int{}
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		name := m[1]
		kind, exists := "", true
		switch {
		case file.MatchString(name):
			kind, exists = "file", s.find(name) != ""
		case test.MatchString(name):
			kind, exists = "test", s.hasTest(name)
		case qualified.MatchString(name):
			kind, exists = "name", s.hasName(name)
		case snake.MatchString(name):
			kind, exists = "word", strings.Contains(s.text.String(), name)
		}
		checked[kind]++
		if !exists {
			t.Errorf("there is no %s %s", kind, name)
		}
	}
	for _, m := range pair.FindAllStringSubmatch(text, -1) {
		declared := s.declared[s.find(m[1])]
		for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
			checked["declaration"]++
			if !slices.Contains(declared, name[1]) {
				t.Errorf("%s does not declare %s", m[1], name[1])
			}
		}
	}
	for _, kind := range []string{"file", "test", "name", "word", "declaration"} {
		if checked[kind] == 0 {
			t.Errorf("no %s was recognised", kind)
		}
	}
}

// TestMechanisms_compares_each_with_each: at each one's place there is a sentence about each other one.
func TestMechanisms_compares_each_with_each(t *testing.T) {
	text := document(t, "MECHANISMS.md")
	for i := 1; i <= 6; i++ {
		_, section, found := strings.Cut(text, fmt.Sprintf("\n### In place of M%d, at ", i))
		if !found {
			t.Errorf("no section about M%d", i)
			continue
		}
		section, _, _ = strings.Cut(section, "\n#")
		for j := 1; j <= 6; j++ {
			if has := strings.Contains(section, fmt.Sprintf("\n- **M%d**", j)); has != (i != j) {
				t.Errorf("M%d in place of M%d: %v", j, i, has)
			}
		}
	}
}

// TestDocuments_name_tests_that_exist, in all of them.
func TestDocuments_name_tests_that_exist(t *testing.T) {
	s := read(t)
	for _, path := range documents(t) {
		for _, m := range quoted.FindAllStringSubmatch(document(t, path), -1) {
			if strings.HasPrefix(m[1], "Test") && !s.hasTest(m[1]) {
				t.Errorf("%s: there is no test %s", path, m[1])
			}
		}
	}
}

func document(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
