package opsclient

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"kuhnya/internal/httpapi"
)

// Refusal is a problem document that a process answered with.
type Refusal struct{ httpapi.Problem }

// Error is one line for people.
func (r *Refusal) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s", r.Title, r.Detail)
	for _, e := range r.Errors {
		fmt.Fprintf(&text, " %s %s.", e.Pointer, e.Detail)
	}
	return text.String()
}

// refusal makes an error of an answer. One without a problem document comes from something else than kuhnya.
func refusal(request *http.Request, response *http.Response, body []byte) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var r Refusal
	if kind != "application/problem+json" || json.Unmarshal(body, &r.Problem) != nil {
		return fmt.Errorf("%s://%s answers %s, which is not what kuhnya would; is the URL right?",
			request.URL.Scheme, request.URL.Host, response.Status)
	}
	return &r
}
