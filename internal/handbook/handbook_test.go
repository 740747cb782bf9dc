package handbook_test

import (
	"encoding/json"
	"html"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"kuhnya/internal/auth"
	"kuhnya/internal/bonus/bonushttp"
	"kuhnya/internal/establishment/establishmenthttp"
	"kuhnya/internal/handbook"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen/kitchenhttp"
	"kuhnya/internal/ops/opshttp"
)

// served has the operations of all services and the handbook. Nobody calls the operations.
var served = sync.OnceValue(func() *httpapi.API {
	api := httpapi.New(httpapi.Config{
		Title: "Kuhnya", Version: "1", Verifier: auth.NewVerifier(auth.Key{}), Logger: slog.New(slog.DiscardHandler),
		ParseKey: func([]string) (string, bool, error) { return "", false, nil },
	})
	handbook.Register(api)
	kitchenhttp.Register(api, nil, nil, nil)
	establishmenthttp.Register(api, nil, nil)
	bonushttp.Register(api, nil, nil)
	opshttp.Register(api, opshttp.Service{Name: "kitchen"})
	return api
})

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	return getAt(t, "127.0.0.1:8080", path)
}

func getAt(t *testing.T, host, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
	r.Host = host
	served().Handler().ServeHTTP(w, r)
	return w
}

// pages are the paths of all pages and what they hold.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"/docs": "", "/docs/events": "", "/problems": ""}
	for _, k := range httpapi.Kinds() {
		all["/problems/"+k.Slug()] = ""
	}
	for path := range all {
		w := get(t, path)
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: %d %v", path, w.Code, w.Header())
		}
		all[path] = w.Body.String()
	}
	return all
}

func TestPages_load_nothing_from_elsewhere(t *testing.T) {
	foreign := regexp.MustCompile(`(?i)(?:src|href|action|srcset|content|url\(|@import)\s*[=(]?\s*["']?\s*(?:https?:)?//`)
	all := pages(t)
	files, _ := filepath.Glob("assets/*")
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	for path, text := range all {
		if found := foreign.FindString(text); found != "" {
			t.Errorf("%s: %s", path, found)
		}
		for _, inline := range []string{"<style", "style=", "onclick=", "<script>"} {
			if strings.Contains(text, inline) {
				t.Errorf("%s: %s, which the policy forbids", path, inline)
			}
		}
	}
}

func TestPages_have_a_policy_that_lets_nothing_in(t *testing.T) {
	for _, path := range []string{"/docs", "/docs/events", "/problems", "/problems/internal", "/problems/nonsense"} {
		policy := get(t, path).Header().Get("Content-Security-Policy")
		for _, part := range strings.Split(policy, "; ") {
			if name, value, _ := strings.Cut(part, " "); value != "'none'" && value != "'self'" || name == "default-src" && value != "'none'" {
				t.Errorf("%s: %s", path, part)
			}
		}
		if !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("%s: %q", path, policy)
		}
	}
}

var (
	anchors = regexp.MustCompile(`\sid="([^"]*)"`)
	links   = regexp.MustCompile(`\shref="([^"]*)"`)
	sources = regexp.MustCompile(`\ssrc="([^"]*)"`)
)

func TestPages_lead_only_to_what_is_there(t *testing.T) {
	all, seen := pages(t), map[string]bool{}
	ids := map[string]bool{}
	for path, text := range all {
		for _, m := range anchors.FindAllStringSubmatch(text, -1) {
			id := path + "#" + m[1]
			if ids[id] {
				t.Errorf("%s is there twice", id)
			}
			ids[id] = true
		}
	}
	for path, text := range all {
		for _, m := range slices.Concat(links.FindAllStringSubmatch(text, -1), sources.FindAllStringSubmatch(text, -1)) {
			target, anchor, inside := strings.Cut(html.UnescapeString(m[1]), "#")
			if target == "" {
				target = path
			}
			if inside && !ids[target+"#"+anchor] {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
			if !seen[target] && get(t, target).Code != 200 {
				t.Errorf("%s links to %s", path, m[1])
			}
			seen[target] = true
		}
	}
}

func TestDocs_shows_the_operations_of_the_API(t *testing.T) {
	page := get(t, "/docs").Body.String()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID, Summary string
			Parameters           []struct{ Name string }
			Responses            map[string]any
		}
	}
	_, document := served().OpenAPI()
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	operations := 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			operations++
			_, shown, ok := strings.Cut(page, `id="operation-`+op.OperationID+`"`)
			shown, _, _ = strings.Cut(shown, "</details>")
			if !ok {
				t.Errorf("%s is missing", op.OperationID)
			}
			want := []string{">" + strings.ToUpper(method) + "<", ">" + path + "<", html.EscapeString(op.Summary), "For <strong>"}
			for _, p := range op.Parameters {
				want = append(want, "<code>"+p.Name+"</code>")
			}
			for status := range op.Responses {
				want = append(want, "<code>"+status+"</code>")
			}
			for _, part := range want {
				if !strings.Contains(html.UnescapeString(shown), html.UnescapeString(part)) {
					t.Errorf("%s does not show %s", op.OperationID, part)
				}
			}
			if strings.Contains(shown, "<strong></strong>") {
				t.Errorf("%s does not say who may call it", op.OperationID)
			}
		}
	}
	if operations < 20 {
		t.Errorf("only %d operations", operations)
	}
}

func TestDocs_runs_every_example(t *testing.T) {
	page := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(get(t, "/docs").Body.String(), ""))
	files, _ := filepath.Glob("examples/*.sh")
	if len(files) == 0 {
		t.Fatal("no examples")
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(page, strings.TrimSpace(string(text))) != 1 {
			t.Errorf("%s is not shown once, as it is", path)
		}
	}
}

// A copied command works where the page was read, and nobody's odd Host gets into a command.
func TestDocs_names_the_host_that_was_asked(t *testing.T) {
	for host, want := range map[string]string{
		"localhost:9000": "url=http://localhost:9000\n", "[::1]:8080": "url=http://[::1]:8080\n",
		"a$(id)": "url=http://127.0.0.1:8080\n", `"><b>`: "url=http://127.0.0.1:8080\n", "": "url=http://127.0.0.1:8080\n",
	} {
		if !strings.Contains(getAt(t, host, "/docs").Body.String(), want) {
			t.Errorf("%q: no %q", host, want)
		}
	}
}

func TestProblems_each_kind_has_a_page(t *testing.T) {
	all := pages(t)
	for _, k := range httpapi.Kinds() {
		page := html.UnescapeString(all["/problems/"+k.Slug()])
		_, text, _ := strings.Cut(page, "<pre><code>")
		text, _, _ = strings.Cut(text, "</code></pre>")
		var example map[string]any
		if err := json.Unmarshal([]byte(text), &example); err != nil {
			t.Errorf("%s: %v: %s", k.Code, err, text)
			continue
		}
		if example["code"] != string(k.Code) || example["type"] != "/problems/"+k.Slug() || example["retryable"] != k.Retryable || example["detail"] == "" {
			t.Errorf("%s: example %v", k.Code, example)
		}
		if !strings.Contains(page, "<h1>"+k.Title+"</h1>") || !strings.Contains(all["/problems"], `href="/problems/`+k.Slug()+`"`) {
			t.Errorf("%s: no title, or not in the index", k.Code)
		}
	}
}

func TestProblems_unknown_slug_is_not_found(t *testing.T) {
	for _, path := range []string{"/problems/nonsense", "/problems/out_of_stock", "/problems/Internal"} {
		w := get(t, path)
		if w.Code != 404 || !strings.Contains(w.Body.String(), `href="/problems"`) {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
