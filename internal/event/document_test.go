package event_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kuhnya/internal/event"
)

// TestDocument keeps docs/EVENTS.md to the truth: its examples are the golden files, whatever their spaces, and it names
// every type, topic, group and header.
func TestDocument(t *testing.T) {
	content, err := os.ReadFile("../../docs/EVENTS.md")
	must(t, err)
	text := string(content)

	shown := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(text, -1) {
		shown[compact(t, block[1])] = true
	}
	for _, file := range goldenFiles(t) {
		example := compact(t, string(golden(t, file)))
		if !shown[example] {
			t.Errorf("%s is no example", file)
		}
		delete(shown, example)
	}
	for example := range shown {
		t.Errorf("an example is no golden file: %s", example)
	}

	names := constants(t, ".", func(name string) bool { return isType(name) || strings.HasPrefix(name, "header") })
	names = append(names, constants(t, "../../consume", func(name string) bool { return strings.HasPrefix(name, "Header") })...)
	for _, c := range (event.Topics{}).Consumers() {
		names = append(names, c.Topic, c.Group, event.DeadLetterTopic(c.Topic, c.Group))
	}
	for _, name := range append(names, event.Topics{}.Bonuses()) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s is not named", name)
		}
	}
}

func compact(t *testing.T, example string) string {
	t.Helper()
	var out bytes.Buffer
	must(t, json.Compact(&out, []byte(example)))
	return out.String()
}

func goldenFiles(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	must(t, err)
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// isType says whether a constant of that name is a type of event.
func isType(name string) bool { return ast.IsExported(name) && strings.HasSuffix(name, "Type") }

// constants are the texts of a package's constants, by their names.
func constants(t *testing.T, dir string, wanted func(name string) bool) (texts []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) == 0 || !wanted(spec.Names[0].Name) {
				return true
			}
			if text, ok := spec.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
				value, err := strconv.Unquote(text.Value)
				must(t, err)
				texts = append(texts, value)
			}
			return true
		})
	}
	return texts
}
