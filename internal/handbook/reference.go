package handbook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kuhnya/internal/httpapi"
)

// reference is an OpenAPI document as people read it.
type reference struct {
	Groups  []group
	Objects []object
}

type group struct {
	Name       string
	Operations []operation
}

// Anchor is the id of the group on the page.
func (g group) Anchor() string {
	return "group-" + strings.ReplaceAll(strings.ToLower(g.Name), " ", "-")
}

type operation struct {
	ID, Method, Path     string
	Summary, Description string
	Who                  string // may call it
	Parameters           []member
	Body                 []member
	BodyOptional         bool
	Answers              []answer
}

// Anchor is the id of the operation on the page.
func (o operation) Anchor() string { return "operation-" + o.ID }

// answer is a status that an operation may answer with.
type answer struct {
	Status  string
	Text    string
	Object  string // name of the body's object, "" if it has none
	Media   string // of the body, "" for none
	Headers []string
	Kinds   []httpapi.Kind // of problems
}

type object struct {
	Name    string
	Text    string
	Members []member
}

// The parts of an OpenAPI document that are shown.
type (
	openAPI struct {
		Paths      map[string]map[string]operationDoc
		Components struct{ Schemas map[string]schema }
	}
	operationDoc struct {
		OperationID, Summary, Description string
		Tags                              []string
		Parameters                        []parameterDoc
		RequestBody                       *struct {
			Required bool
			Content  map[string]contentDoc
		}
		Responses map[string]responseDoc
	}
	parameterDoc struct {
		Name, In, Description string
		Required              bool
		Schema                schema
	}
	contentDoc  struct{ Schema schema }
	responseDoc struct {
		Description string
		Headers     map[string]any
		Content     map[string]contentDoc
	}
)

// newReference reads the document that the process serves.
func newReference(document []byte) reference {
	var doc openAPI
	if err := json.Unmarshal(document, &doc); err != nil {
		panic(fmt.Errorf("read OpenAPI: %w", err)) // made by this process
	}
	bodies := map[string]bool{}
	groups := map[string][]operation{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			shown := doc.operation(strings.ToUpper(method), path, op)
			tag := cmp.Or(append(op.Tags, "Other")...)
			groups[tag] = append(groups[tag], shown)
			if op.RequestBody != nil {
				bodies[op.RequestBody.Content["application/json"].Schema.object()] = true
			}
		}
	}
	return reference{Groups: sortGroups(groups), Objects: doc.objects(bodies)}
}

func sortGroups(groups map[string][]operation) (sorted []group) {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		operations := groups[name]
		slices.SortFunc(operations, func(a, b operation) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(methodRank(a.Method), methodRank(b.Method)))
		})
		sorted = append(sorted, group{name, operations})
	}
	return sorted
}

func methodRank(method string) int {
	return slices.Index([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method)
}

// allowedFor begins the sentence of a description that says who may call.
const allowedFor = "Allowed for: "

func (doc openAPI) operation(method, path string, op operationDoc) operation {
	description, who, _ := strings.Cut(op.Description, allowedFor)
	shown := operation{
		ID: op.OperationID, Method: method, Path: path, Summary: op.Summary,
		Description: strings.TrimSpace(description), Who: strings.TrimSuffix(who, "."),
	}
	for _, p := range op.Parameters {
		m := p.Schema.member(p.Name, p.Required)
		m.In, m.Text = p.In, cmp.Or(p.Description, m.Text)
		shown.Parameters = append(shown.Parameters, m)
	}
	if op.RequestBody != nil {
		shown.BodyOptional = !op.RequestBody.Required
		shown.Body = doc.resolve(op.RequestBody.Content["application/json"].Schema).members()
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		shown.Answers = append(shown.Answers, newAnswer(status, op.Responses[status]))
	}
	return shown
}

func newAnswer(status string, doc responseDoc) answer {
	a := answer{Status: status, Text: doc.Description, Headers: slices.Sorted(maps.Keys(doc.Headers))}
	for media, content := range doc.Content {
		a.Media, a.Object = media, content.Schema.object()
	}
	for _, k := range httpapi.Kinds() {
		if strings.Contains(doc.Description, "`"+string(k.Code)+"`") {
			a.Kinds = append(a.Kinds, k)
		}
	}
	return a
}

// objects are the bodies that are not shown where they are sent.
func (doc openAPI) objects(bodies map[string]bool) (objects []object) {
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		if s := doc.Components.Schemas[name]; !bodies[name] {
			objects = append(objects, object{Name: name, Text: s.Description, Members: s.members()})
		}
	}
	return objects
}

func (doc openAPI) resolve(s schema) schema {
	if name := s.object(); name != "" {
		return doc.Components.Schemas[name]
	}
	return s
}
