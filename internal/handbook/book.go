package handbook

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"

	"kuhnya/internal/httpapi"
)

//go:embed templates
var files embed.FS

// book is every page, rendered.
type book struct {
	guide    []byte
	events   []byte
	problems []byte            // the index
	problem  map[string][]byte // by slug
	missing  []byte            // instead of a problem that there isn't
}

// page is what a template gets. Only the guide has all of it.
type page struct {
	Title     string
	Sections  []section
	Problems  []problem
	Problem   problem
	Reference reference
	Records   []record
	Article   article
}

// section is a part of the guide: a template of its own in templates/guide.
type section struct{ ID, Title string }

var sections = []section{
	{"start", "Quick start"},
	{"tokens", "Tokens and roles"},
	{"orders", "The life of an order"},
	{"keys", "Idempotency keys"},
	{"retries", "Retrying"},
	{"callbacks", "Status callbacks"},
	{"board", "The board"},
	{"stream", "Following an order"},
	{"bonuses", "Bonuses"},
	{"events", "Events"},
	{"errors", "Errors"},
	{"lists", "Lists"},
	{"limits", "Limits"},
}

func newBook(api *httpapi.API) *book {
	_, document := api.OpenAPI()
	ref := newReference(document)
	problems := newProblems(ref)
	t := parse()
	b := &book{
		guide: render(t, "docs.html", page{
			Title: "Kuhnya for integrators", Sections: sections, Problems: problems, Reference: ref, Records: newRecords(),
		}),
		events:   render(t, "article.html", page{Title: "Events", Article: newEvents()}),
		problems: render(t, "problems.html", page{Title: "Problems", Problems: problems}),
		missing:  render(t, "missing.html", page{Title: "No such problem"}),
		problem:  map[string][]byte{},
	}
	for _, p := range problems {
		b.problem[p.Slug()] = render(t, "problem.html", page{Title: p.Title, Problems: problems, Problem: p})
	}
	return b
}

func parse() *template.Template {
	t := template.New("")
	t.Funcs(template.FuncMap{
		"prose":   prose,
		"example": example,
		"section": func(id string, p page) (template.HTML, error) {
			var b bytes.Buffer
			err := t.ExecuteTemplate(&b, id+".html", p)
			return template.HTML(b.String()), err
		},
	})
	return template.Must(t.ParseFS(files, "templates/*.html", "templates/guide/*.html"))
}

func render(t *template.Template, name string, p page) []byte {
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, p); err != nil {
		panic(fmt.Errorf("render %s: %w", name, err)) // built in: a fault of the program
	}
	return b.Bytes()
}
