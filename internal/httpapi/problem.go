package httpapi

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"kuhnya/internal/fault"
)

const (
	problemType = "application/problem+json"
	retryAfter  = 1 // seconds

	maxPointers     = 20 // a body of 64 KiB can hold thousands of faults
	maxPointerBytes = 256
)

// Problem is the body of every answer from 400 up (RFC 9457).
type Problem struct {
	Type      string          `json:"type" doc:"Names the kind of problem." example:"/problems/out-of-stock"`
	Title     string          `json:"title" doc:"The kind of problem in words."`
	Status    int             `json:"status" doc:"The status of this answer."`
	Detail    string          `json:"detail" doc:"What went wrong this time."`
	Instance  string          `json:"instance" doc:"The id of this request, as in X-Request-Id."`
	Code      fault.Code      `json:"code" doc:"The kind of problem, for programs." example:"out_of_stock"`
	Retryable bool            `json:"retryable" doc:"Whether the same request, unchanged, may succeed later."`
	Errors    []fault.Pointer `json:"errors,omitempty" doc:"Which parts of the input are wrong: JSON pointers into the body, or /name of a parameter."`
	// Fields are members that only some kinds have, such as how many portions are left.
	Fields map[string]any `json:",embed"`
}

// newProblem renders a refusal, and notes its code for the log. A code without a kind is a fault of the program and looks like one.
func newProblem(ctx context.Context, f *fault.Error) *Problem {
	kind, ok := kinds[f.Code]
	if !ok || kind.Code == fault.Internal {
		kind = kinds[fault.Internal]
		f = errInternal
	}
	accountOf(ctx).code = kind.Code
	return &Problem{
		Type:      "/problems/" + kind.Slug(),
		Title:     kind.Title,
		Status:    kind.Status,
		Detail:    f.Detail,
		Instance:  RequestID(ctx),
		Code:      kind.Code,
		Retryable: kind.Retryable,
		Errors:    presentable(f.Pointers),
		Fields:    extensions(f.Fields),
	}
}

// Error is for logs.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Detail }

// GetStatus tells huma the status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders tells huma the headers that belong to the kind.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if kinds[p.Code].Waits() {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if p.Code == fault.Unauthenticated {
		h.Set("WWW-Authenticate", `Bearer realm="kuhnya"`)
	}
	return h
}

// ContentType tells huma the media type.
func (p *Problem) ContentType(string) string { return problemType }

// TransformSchema opens the schema for the members in Fields, which are written beside the others.
func (p *Problem) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	delete(s.Properties, "Fields")
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == "Fields" })
	s.AdditionalProperties = true
	return s
}

// write answers with the problem, unless an answer has been chosen already.
func (p *Problem) write(w http.ResponseWriter) {
	p.setHeaders(w.Header())
	w.WriteHeader(p.Status)
	_ = encodeTo(w, p)
}

func (p *Problem) setHeaders(h http.Header) {
	maps.Copy(h, p.GetHeaders())
	h.Set("Content-Type", problemType)
}

// extensions drops members that would stand twice in the document.
func extensions(fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for name, value := range fields {
		switch name {
		case "type", "title", "status", "detail", "instance", "code", "retryable", "errors":
		default:
			out[name] = value
		}
	}
	return out
}

// presentable sorts and cuts what may be as long as a hostile body wants.
func presentable(pointers []fault.Pointer) []fault.Pointer {
	out := slices.Clone(pointers)
	slices.SortStableFunc(out, func(a, b fault.Pointer) int { return cmp.Compare(a.Pointer, b.Pointer) })
	out = out[:min(len(out), maxPointers)]
	for i := range out {
		out[i].Pointer = cut(out[i].Pointer)
	}
	return out
}
