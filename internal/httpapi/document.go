package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"kuhnya/internal/fault"
)

const bearerScheme = "bearer"

func security(a Access) []map[string][]string {
	token := map[string][]string{bearerScheme: {}}
	if a.anonymous {
		return []map[string][]string{{}, token} // OpenAPI's way to say "optional"
	}
	return []map[string][]string{token}
}

func describeAccess(op Operation) string {
	who := "anyone"
	switch {
	case len(op.Access.roles) > 0:
		names := make([]string, len(op.Access.roles))
		for i, role := range op.Access.roles {
			names[i] = string(role)
		}
		who = strings.Join(names, ", ")
	case !op.Access.anonymous:
		who = "anyone signed in"
	}
	return strings.TrimSpace(op.Description + "\n\nAllowed for: " + who + ".")
}

// schemaName names the schema of a type. A body without a named type takes its name from the operation's id, which may
// hold hyphens.
func schemaName(t reflect.Type, hint string) string {
	var b strings.Builder
	for _, part := range strings.Split(huma.DefaultSchemaNamer(t, hint), "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func keyParameter() *huma.Param {
	longest, shortest := 257, 1 // 255 and two quotes
	return &huma.Param{
		Name: "Idempotency-Key", In: "header",
		Description: "Makes repeats of this command by the same caller safe: they return what the first one did. " +
			"1 to 255 visible ASCII characters, bare or as a quoted string (RFC 8941); both forms are the same key. " +
			"Without it every request is a command of its own.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest},
	}
}

// refusals describes the problems that an operation may answer, by status.
func (a *API) refusals(codes []fault.Code) map[string]*huma.Response {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	responses := map[string]*huma.Response{}
	for _, code := range codes {
		kind := kinds[code]
		status := strconv.Itoa(kind.Status)
		r := responses[status]
		if r == nil {
			r = &huma.Response{
				Headers: map[string]*huma.Header{},
				Content: map[string]*huma.MediaType{problemType: {Schema: schema}},
			}
			responses[status] = r
		}
		r.Description = strings.TrimSpace(fmt.Sprintf("%s\n`%s`: %s", r.Description, code, kind.Title))
		if kind.Waits() {
			r.Headers["Retry-After"] = header(huma.TypeInteger, "Seconds to wait before the request is sent again.")
		}
		if kind.Status == http.StatusUnauthorized {
			r.Headers["WWW-Authenticate"] = header(huma.TypeString, "The scheme that is asked for.")
		}
	}
	return responses
}

func header(kind, description string) *huma.Header {
	return &huma.Header{Description: description, Schema: &huma.Schema{Type: kind}}
}

// completeResponses gives every status of success the body and headers of the first, which huma took from the types.
func completeResponses(op Operation, f form, responses map[string]*huma.Response) {
	list := op.success()
	first := responses[strconv.Itoa(list[0])]
	if f.stream {
		first.Content = map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	for _, status := range list[1:] {
		same := *first
		same.Description = http.StatusText(status)
		same.Headers = maps.Clone(first.Headers)
		if status == http.StatusNoContent {
			same.Content = nil
		}
		responses[strconv.Itoa(status)] = &same
	}
	for _, status := range slices.Clone(list) {
		if h := responses[strconv.Itoa(status)].Headers["Location"]; h != nil {
			h.Description = "Where the resource is; absent if it has no place of its own."
		}
		if h := responses[strconv.Itoa(status)].Headers["Idempotent-Replayed"]; h != nil {
			h.Description = "Only there, and true, if an earlier request did the work."
		}
	}
}
