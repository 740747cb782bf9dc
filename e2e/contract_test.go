package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// contract is what api/openapi.yaml says about answers. do holds every answer of an operation against it.
type contract struct {
	routes   []route
	tree     any // the whole document
	compiler *jsonschema.Compiler
	mu       sync.Mutex // of compiler
}

// route is a path with its operations, by method.
type route struct {
	path       string
	pattern    *regexp.Regexp
	operations map[string]operationDoc
}

type (
	operationDoc struct{ Responses map[string]responseDoc }
	responseDoc  struct {
		Description string // of refusals, their codes among others
		Content     map[string]any
	}
)

const contractFile = "../api/openapi.yaml"

var documented = sync.OnceValues(readContract)

func readContract() (*contract, error) {
	content, err := os.ReadFile(contractFile)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := yaml.Unmarshal(content, &tree); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	c := &contract{compiler: jsonschema.NewCompiler()}
	if err := c.index(encoded); err != nil {
		return nil, err
	}
	if c.tree, err = jsonschema.UnmarshalJSON(bytes.NewReader(encoded)); err != nil {
		return nil, err
	}
	closed, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	closeObjects(closed)
	c.compiler.AssertFormat()
	return c, c.compiler.AddResource("openapi.json", closed)
}

// closeObjects refuses members that are not stated, where nothing is said of them. For clients that leaves room for later
// members; an answer of today has none.
func closeObjects(tree any) {
	object, ok := tree.(map[string]any)
	if !ok {
		return
	}
	for _, member := range object {
		closeObjects(member)
	}
	_, stated := object["additionalProperties"]
	if properties, ok := object["properties"].(map[string]any); ok && !stated && len(properties) > 0 {
		object["additionalProperties"] = false
	}
}

var placeholder = regexp.MustCompile(`\\\{[a-z_]+\\\}`)

func (c *contract) index(document []byte) error {
	var d struct {
		Paths map[string]map[string]operationDoc
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return err
	}
	for path, operations := range d.Paths {
		pattern := placeholder.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
		c.routes = append(c.routes, route{path, regexp.MustCompile("^" + pattern + "$"), operations})
	}
	return nil
}

// breach says in what an answer is other than documented.
func (c *contract) breach(method, path string, r response) error {
	at, ok := c.find(path)
	if !ok {
		return c.refused(r, 404)
	}
	method = strings.ToLower(method)
	operation, ok := at.operations[method]
	if !ok {
		return c.refused(r, 405)
	}
	status := fmt.Sprint(r.status)
	stated, ok := operation.Responses[status]
	if !ok {
		return fmt.Errorf("%s %s states no %s", method, at.path, status)
	}
	if len(stated.Content) == 0 {
		return wantEmpty(r)
	}
	media, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	if _, ok := stated.Content[media]; !ok {
		return fmt.Errorf("%s %s states no %q for %s", method, at.path, media, status)
	}
	if code := problemCode(r); r.status >= 400 && !strings.Contains(stated.Description, "`"+code+"`") {
		return fmt.Errorf("%s %s states no %s among %s: %s", method, at.path, code, status, stated.Description)
	}
	if media == "text/event-stream" {
		return nil
	}
	return c.validate(r.body, "paths", at.path, method, "responses", status, "content", media, "schema")
}

func (c *contract) find(path string) (route, bool) {
	for _, r := range c.routes {
		if r.pattern.MatchString(path) {
			return r, true
		}
	}
	return route{}, false
}

// refused wants a problem from where there is no operation.
func (c *contract) refused(r response, status int) error {
	if r.status != status {
		return fmt.Errorf("no such operation is stated, and the answer is not %d", status)
	}
	return c.validate(r.body, "components", "schemas", "Problem")
}

func wantEmpty(r response) error {
	if len(r.body) > 0 {
		return fmt.Errorf("no body is stated")
	}
	return nil
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")

// validate holds a body against the schema at a place in the document.
func (c *contract) validate(body []byte, place ...string) error {
	for i, part := range place {
		place[i] = pointerEscape.Replace(part)
	}
	c.mu.Lock()
	schema, err := c.compiler.Compile("openapi.json#/" + strings.Join(place, "/"))
	c.mu.Unlock()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// wantDocumented fails the test unless the answer is one that the document states for its operation.
func (r response) wantDocumented(t testing.TB, method, path string) {
	t.Helper()
	c, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.breach(method, path, r); err != nil {
		t.Errorf("%s %s: answer %d is not as documented: %v\n%s", method, path, r.status, err, r.body)
	}
}

// wantObject fails the test unless JSON is an object of the document.
func wantObject(t testing.TB, name, body string) {
	t.Helper()
	c, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.validate([]byte(body), "components", "schemas", name); err != nil {
		t.Errorf("no %s as documented: %v\n%s", name, err, body)
	}
}

func TestContract_is_what_the_process_serves(t *testing.T) {
	t.Parallel()
	c, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	s := sharedSite(t)
	served, err := jsonschema.UnmarshalJSON(bytes.NewReader(client{site: s}.send(t, "GET", "/openapi.json", nil).want(t, 200).body))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"paths", "components"} {
		if diff := cmp.Diff(c.tree.(map[string]any)[part], served.(map[string]any)[part]); diff != "" {
			t.Errorf("%s (-%s +served):\n%s", part, contractFile, diff)
		}
	}
}

func TestContract_is_broken_by_what_is_not_stated(t *testing.T) {
	c, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	wallet := `{"user_id":"alice","balance":42}`
	gone := `{"type":"/problems/x","title":"x","status":404,"detail":"x","instance":"x","code":"not_found","retryable":false}`
	for _, test := range []struct {
		name, method, path string
		status             int
		media, body        string
		broken             bool
	}{
		{"as stated", "GET", "/v1/wallet", 200, "application/json", wallet, false},
		{"another status", "GET", "/v1/wallet", 201, "application/json", wallet, true},
		{"another media type", "GET", "/v1/wallet", 200, "text/plain", wallet, true},
		{"a member missing", "GET", "/v1/wallet", 200, "application/json", `{"user_id":"alice"}`, true},
		{"a member of another type", "GET", "/v1/wallet", 200, "application/json", `{"user_id":"alice","balance":"42"}`, true},
		{"a member that is not stated", "GET", "/v1/wallet", 200, "application/json", `{"user_id":"alice","balance":42,"secret":1}`, true},
		{"no JSON", "GET", "/v1/wallet", 200, "application/json", `{`, true},
		{"a problem as stated", "GET", "/v1/tickets/1", 404, "application/problem+json", gone, false},
		{"a code that is not stated", "GET", "/v1/tickets/1", 404, "application/problem+json",
			strings.Replace(gone, "not_found", "gone_out", 1), true},
		{"a problem of no operation", "GET", "/v1/nowhere", 404, "application/problem+json", gone, false},
		{"an answer of no operation", "GET", "/v1/nowhere", 200, "application/json", wallet, true},
		{"an answer to another method", "PUT", "/v1/wallet", 200, "application/json", wallet, true},
		{"nothing, as stated", "GET", "/v1/orders/1/stream", 204, "", "", false},
		{"something instead of nothing", "GET", "/v1/orders/1/stream", 204, "application/json", wallet, true},
	} {
		r := response{status: test.status, header: map[string][]string{"Content-Type": {test.media}}, body: []byte(test.body)}
		if err := c.breach(test.method, test.path, r); (err != nil) != test.broken {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
