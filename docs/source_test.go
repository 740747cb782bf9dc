// Package docs keeps the documents of this folder to what is there: files, names, tests and links that they point to.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is the repository as far as documents name it.
type source struct {
	files    []string            // paths from the root
	declared map[string][]string // names by file: functions, Type.method, types, constants, variables
	literals map[string]bool     // texts in the code, with underscores for spaces, as tests are named
	text     strings.Builder     // all code and SQL
}

func read(t *testing.T) *source {
	t.Helper()
	s := &source{declared: map[string][]string{}, literals: map[string]bool{}}
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".go" && ext != ".sql" {
			return err
		}
		content, err := fs.ReadFile(root, path)
		s.files = append(s.files, path)
		s.text.Write(content)
		if strings.HasSuffix(path, ".go") {
			s.parse(t, path, content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *source) parse(t *testing.T, path string, content []byte) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		s.declared[path] = append(s.declared[path], names(d)...)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				s.literals[strings.ReplaceAll(text, " ", "_")] = true
			}
		}
		return true
	})
}

func names(d ast.Decl) (declared []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return []string{receiver(d.Recv.List[0].Type) + "." + d.Name.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				declared = append(declared, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					declared = append(declared, name.Name)
				}
			}
		}
	}
	return declared
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// find returns the one file whose path ends in name, "" if there is none or more than one.
func (s *source) find(name string) string {
	var found []string
	for _, path := range s.files {
		if path == name || strings.HasSuffix(path, "/"+name) {
			found = append(found, path)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// hasName says whether a package of that name declares something, as in pkg.Name or pkg.Type.Method.
func (s *source) hasName(qualified string) bool {
	pkg, name, _ := strings.Cut(qualified, ".")
	for path, declared := range s.declared {
		if filepath.Base(filepath.Dir(path)) == pkg && slices.Contains(declared, name) {
			return true
		}
	}
	return false
}

// hasTest says whether there is a test of that name. Of a subtest it knows the text that names it, not the test that it
// belongs to; "…" in place of either is any.
func (s *source) hasTest(name string) bool {
	function, subtest, _ := strings.Cut(name, "/")
	if function != "…" && !slices.Contains(slices.Concat(slices.Collect(maps.Values(s.declared))...), function) {
		return false
	}
	subtest = strings.Trim(strings.TrimSuffix(subtest, "…"), "/")
	if subtest == "" || s.literals[subtest] {
		return true
	}
	for literal := range s.literals {
		if strings.HasPrefix(literal, subtest+"/") || function == "…" && strings.HasSuffix(literal, "/"+subtest) {
			return true
		}
	}
	first, rest, nested := strings.Cut(subtest, "/")
	return nested && s.literals[first] && s.literals[rest]
}
