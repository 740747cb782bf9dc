package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// tokens prints bearer tokens by the command line, each once.
type tokens struct {
	data string
	mu   sync.Mutex
	made map[string]string
}

func newTokens(data string) *tokens { return &tokens{data: data, made: map[string]string{}} }

func (k *tokens) of(t testing.TB, args ...string) string {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	name := strings.Join(args, " ")
	if _, ok := k.made[name]; !ok {
		r := command(t, append([]string{"token", "--data", k.data}, args...)...)
		if r.code != 0 {
			t.Fatalf("token %s: %s", name, r.stderr)
		}
		k.made[name] = strings.TrimSpace(r.stdout)
	}
	return k.made[name]
}

// client is somebody who calls a site.
type client struct {
	site    *site
	subject string
	token   string // "" to come without one
}

// customer is a person who orders.
func (s *site) customer(t testing.TB, name string) client {
	t.Helper()
	return client{s, name, s.tokens.of(t, "--role", "customer", "--subject", name)}
}

func (s *site) operator(t testing.TB) client {
	t.Helper()
	return client{s, "root", s.tokens.of(t, "--role", "operator", "--subject", "root")}
}

func (s *site) service(t testing.TB) client {
	t.Helper()
	return client{s, "robot", s.tokens.of(t, "--role", "service", "--subject", "robot")}
}

func (s *site) staff(t testing.TB, establishment string) client {
	t.Helper()
	name := "cook-" + establishment[:8]
	return client{s, name, s.tokens.of(t, "--role", "staff", "--subject", name, "--establishment", establishment)}
}

// at is the same caller at another site of the same data.
func (c client) at(s *site) client {
	c.site = s
	return c
}

// response is an answer, read to its end. Its status is 0 if none came.
type response struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// httpClient has connections enough for tests that call many times at once.
var httpClient = &http.Client{
	Timeout:   patience,
	Transport: &http.Transport{MaxIdleConnsPerHost: 200},
}

// send calls the process that answers for the path. A body of text or bytes is sent as it is, nil as no body, anything
// else as JSON. Headers are names and values by turns. No answer fails the test. Safe for use in goroutines.
func (c client) send(t testing.TB, method, path string, body any, headers ...string) response {
	t.Helper()
	r := c.try(t, method, path, body, headers...)
	if r.err != nil {
		t.Errorf("%s %s: %v", method, path, r.err)
	}
	return r
}

// try is send for whoever expects that there may be no answer.
func (c client) try(t testing.TB, method, path string, body any, headers ...string) response {
	t.Helper()
	request, err := c.request(method, path, body, headers...)
	if err != nil {
		return response{err: err}
	}
	return do(t, request)
}

func (c client) request(method, path string, body any, headers ...string) (*http.Request, error) {
	request, err := http.NewRequest(method, c.url(path), bytes.NewReader(encode(body)))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	return request, nil
}

// url completes a path with the process that answers for it.
func (c client) url(path string) string {
	for prefix, p := range map[string]*process{
		"/v1/tickets": c.site.board, "/v1/establishment/": c.site.board,
		"/v1/bonuses": c.site.bonus, "/v1/wallet": c.site.bonus, "/v1/campaigns": c.site.bonus, "/v1/bonus/": c.site.bonus,
	} {
		if strings.HasPrefix(path, prefix) {
			return p.url + path
		}
	}
	return c.site.kitchen.url + path
}

// do fails the test if an answer of the API is not as documented.
func do(t testing.TB, request *http.Request) response {
	t.Helper()
	r := fetch(request)
	if r.err == nil && strings.HasPrefix(request.URL.Path, "/v1/") {
		r.wantDocumented(t, request.Method, request.URL.Path)
	}
	return r
}

func fetch(request *http.Request) response {
	answer, err := httpClient.Do(request)
	if err != nil {
		return response{err: err}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return response{err: err}
	}
	return response{status: answer.StatusCode, header: answer.Header, body: body}
}

func encode(body any) []byte {
	switch b := body.(type) {
	case nil:
		return nil
	case string:
		return []byte(b)
	case []byte:
		return b
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err) // the tests' own types
	}
	return encoded
}

// want fails the test unless the answer has the status.
func (r response) want(t testing.TB, status int) response {
	t.Helper()
	if r.status != status {
		t.Fatalf("answer %d, want %d: %s", r.status, status, r.body)
	}
	return r
}

// wantProblem fails the test unless the answer is a problem document with the status and code.
func (r response) wantProblem(t testing.TB, status int, code string) problem {
	t.Helper()
	p := into[problem](t, r.want(t, status))
	if p.Code != code || p.Status != status || r.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("problem %q, %d, %s; want %q: %s", p.Code, p.Status, r.header.Get("Content-Type"), code, r.body)
	}
	return p
}

// pages reads a list to its end, in pages of so many items.
func pages[T any](t testing.TB, c client, path string, limit int) (items []T) {
	t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	path += fmt.Sprint(separator, "limit=", limit)
	for cursor := ""; ; {
		page := into[list[T]](t, c.send(t, "GET", path+cursor, nil).want(t, 200))
		if items = append(items, page.Items...); page.NextCursor == "" {
			return items
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// into reads the body of an answer.
func into[T any](t testing.TB, r response) (body T) {
	t.Helper()
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatalf("answer %d: %v: %s", r.status, err, r.body)
	}
	return body
}
