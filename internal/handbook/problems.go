package handbook

import (
	"fmt"
	"net/http"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

// problem is a page about one kind of problem document.
type problem struct {
	httpapi.Kind
	explanation
	Example    string // a document, indented
	Operations []operation
}

// StatusText names the status.
func (p problem) StatusText() string { return http.StatusText(p.Status) }

func newProblems(ref reference) []problem {
	var list []problem
	for _, k := range httpapi.Kinds() {
		e, ok := explanations[k.Code]
		if !ok {
			panic("handbook: nothing explains " + string(k.Code))
		}
		list = append(list, problem{Kind: k, explanation: e, Example: exampleOf(k, e), Operations: ref.answering(k)})
	}
	return list
}

// exampleOf makes the document by the type of the real ones.
func exampleOf(k httpapi.Kind, e explanation) string {
	encoded, err := httpapi.Encode(&httpapi.Problem{
		Type: "/problems/" + k.Slug(), Title: k.Title, Status: k.Status, Detail: e.detail, Instance: exampleInstance,
		Code: k.Code, Retryable: k.Retryable, Errors: e.pointers, Fields: e.fields,
	})
	if err != nil {
		panic(fmt.Errorf("example of %s: %w", k.Code, err)) // built in
	}
	return indent(encoded)
}

const exampleInstance = "01a22d7b-0f6a-7c1e-9b55-0d3f2f1c7a10"

// answering lists the operations that may answer with a kind.
func (r reference) answering(k httpapi.Kind) (list []operation) {
	for _, g := range r.Groups {
		for _, o := range g.Operations {
			if o.answers(k.Code) {
				list = append(list, o)
			}
		}
	}
	return list
}

func (o operation) answers(code fault.Code) bool {
	for _, a := range o.Answers {
		for _, k := range a.Kinds {
			if k.Code == code {
				return true
			}
		}
	}
	return false
}
