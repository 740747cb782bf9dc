package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs what the documents tell people to type: each document's examples in their order, in one shell, with
// curl, against a process with demo data of their own. Only the address is another. A comment that begins with a status
// says what the calls of its block answer, in order, as in
//
//	curl -s $url/v1/orders …   # 409 out_of_stock
//
// and a block without any must succeed. Between blocks everything that is on its way arrives, as it does while people read.
//
// In README.md every block of the language sh is an example, in docs/*.md those marked as "sh run", and on /docs those
// that the page shows as such.
func TestExamples(t *testing.T) {
	needCurl(t)
	var all []promise
	for _, path := range append(docs(t), "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks := markdownBlocks(string(text), strings.HasSuffix(path, "README.md"))
		if len(blocks) > 0 {
			all = append(all, promise{"of " + filepath.Base(path), func(t *testing.T) { newTerminal(t).run(blocks) }})
		}
	}
	all = append(all, promise{"of the page /docs", func(t *testing.T) {
		s := newTerminal(t)
		s.run(pageBlocks(s.get("/docs")))
	}})
	keep(t, all...)
}

func docs(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// needCurl skips the test where there is no curl, but never where the result decides.
func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("curl is not installed, so nothing shows that the examples work")
	}
	t.Skip("SKIPPED: curl is not installed, so nothing shows that the examples work")
}
