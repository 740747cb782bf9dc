package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

func (s *sample) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(s.logs, nil)) }

func serve(t *testing.T, api *httpapi.API, method, path string, edits ...edit) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for _, e := range edits {
		e(r)
	}
	w := httptest.NewRecorder()
	api.Handler().ServeHTTP(w, r)
	return w
}

type operationDoc struct {
	Security   []map[string][]string
	Parameters []struct{ Name, In string }
	Responses  map[string]struct {
		Description string
		Headers     map[string]any
		Content     map[string]any
	}
}

func TestOpenAPI(t *testing.T) {
	s := newAPI()
	yaml, doc := s.api.OpenAPI()
	var parsed struct {
		Paths      map[string]map[string]operationDoc
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(doc, &parsed); err != nil {
		t.Fatal(err)
	}
	t.Run("is the same each time", func(t *testing.T) {
		yaml2, doc2 := newAPI().api.OpenAPI()
		if !bytes.Equal(yaml, yaml2) || !bytes.Equal(doc, doc2) {
			t.Error("two equal APIs have different documents")
		}
	})
	t.Run("every operation states its access and its failures", func(t *testing.T) {
		for path, methods := range parsed.Paths {
			for method, op := range methods {
				if len(op.Security) == 0 {
					t.Errorf("%s %s does not say who may call it", method, path)
				}
				for _, status := range []string{"400", "401", "500", "503"} {
					if op.Responses[status].Content["application/problem+json"] == nil {
						t.Errorf("%s %s does not document %s", method, path, status)
					}
				}
			}
		}
	})
	t.Run("the headers of an operation that honours keys", func(t *testing.T) {
		place := parsed.Paths["/v1/orders"]["post"]
		if len(place.Parameters) != 1 || place.Parameters[0].Name != "Idempotency-Key" {
			t.Errorf("parameters %v", place.Parameters)
		}
		for _, status := range []string{"200", "201"} {
			r := place.Responses[status]
			if r.Headers["Location"] == nil || r.Headers["Idempotent-Replayed"] == nil || r.Content["application/json"] == nil {
				t.Errorf("%s: %+v", status, r)
			}
		}
		conflict := place.Responses["409"]
		if conflict.Headers["Retry-After"] == nil || !strings.Contains(conflict.Description, string(fault.OutOfStock)) {
			t.Errorf("409: %+v", conflict)
		}
		for _, status := range []string{"403", "413", "415", "422"} {
			if _, ok := place.Responses[status]; !ok {
				t.Errorf("no %s", status)
			}
		}
	})
	t.Run("members may be added to answers, not to requests", func(t *testing.T) {
		for name, closed := range map[string]bool{"Order": false, "Problem": false, "PlaceBody": true, "Line": true} {
			schema, ok := parsed.Components.Schemas[name].(map[string]any)
			if !ok || (schema["additionalProperties"] == false) != closed {
				t.Errorf("%s: %v", name, schema)
			}
		}
	})
	t.Run("says nothing that is no word of OpenAPI", func(t *testing.T) {
		if bytes.Contains(doc, []byte("patternDescription")) {
			t.Error("patternDescription")
		}
	})
	t.Run("names can be used in programs", func(t *testing.T) {
		for name := range parsed.Components.Schemas {
			if !regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`).MatchString(name) {
				t.Errorf("schema %q", name)
			}
		}
	})
	t.Run("is served", func(t *testing.T) {
		for path, want := range map[string][]byte{"/openapi.json": doc, "/openapi.yaml": yaml} {
			if w := serve(t, s.api, "GET", path); w.Code != 200 || !bytes.Equal(w.Body.Bytes(), want) {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
		for _, path := range []string{"/openapi-3.0.json", "/docs", "/schemas/Order.json"} {
			if w := serve(t, s.api, "GET", path); w.Code != 404 {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	})
}

func TestRegister_refuses(t *testing.T) {
	type in = struct{}
	good := httpapi.Operation{ID: "x", Method: http.MethodGet, Path: "/x", Access: httpapi.Anyone}
	mustPanic := func(t *testing.T, f func(*httpapi.API)) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		f(httpapi.New(httpapi.Config{}))
	}
	answer := func(context.Context, *in) (*httpapi.Answer[int], error) { return httpapi.OK(1), nil }
	for name, change := range map[string]func(*httpapi.Operation){
		"no id":               func(o *httpapi.Operation) { o.ID = "" },
		"no access":           func(o *httpapi.Operation) { o.Access = httpapi.Access{} },
		"keys without parser": func(o *httpapi.Operation) { o.HonoursKey = true },
		"unknown code":        func(o *httpapi.Operation) { o.Codes = []fault.Code{"nonsense"} },
	} {
		t.Run(name, func(t *testing.T) {
			op := good
			change(&op)
			mustPanic(t, func(a *httpapi.API) { httpapi.Register(a, op, answer) })
		})
	}
	t.Run("a lax UUID", func(t *testing.T) {
		mustPanic(t, func(a *httpapi.API) {
			httpapi.Register(a, good, func(context.Context, *struct {
				Body struct{ IDs []uuid.UUID }
			}) (*httpapi.Answer[int], error) {
				return httpapi.OK(1), nil
			})
		})
	})
	t.Run("an embedded struct that would stay empty", func(t *testing.T) {
		type path struct {
			ID httpapi.ID `path:"id"`
		}
		mustPanic(t, func(a *httpapi.API) {
			httpapi.Register(a, good, func(context.Context, *struct{ path }) (*httpapi.Answer[int], error) {
				return httpapi.OK(1), nil
			})
		})
	})
	t.Run("not the good one", func(t *testing.T) {
		httpapi.Register(httpapi.New(httpapi.Config{}), good, answer)
	})
}
