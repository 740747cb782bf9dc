package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks_lead_somewhere: to files and folders of this repository, and to headings in them.
func TestLinks_lead_somewhere(t *testing.T) {
	for _, path := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(document(t, path), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			target = filepath.Join(filepath.Dir(path), target)
			if strings.HasPrefix(m[1], "#") {
				target = path
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", path, err)
			} else if anchor != "" && !hasHeading(t, target, anchor) {
				t.Errorf("%s: no heading in %s for #%s", path, target, anchor)
			}
		}
	}
}

// documents are those of this folder and of the root.
func documents(t *testing.T) []string {
	t.Helper()
	here, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(here, "../README.md", "../CONTRIBUTING.md")
}

// hasHeading says whether a document has a heading to which GitHub gives that anchor.
func hasHeading(t *testing.T, path, anchor string) bool {
	t.Helper()
	for _, m := range heading.FindAllStringSubmatch(document(t, path), -1) {
		if strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
