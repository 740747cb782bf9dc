package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

func TestObserve(t *testing.T) {
	s := newAPI()
	httpapi.Register(s.api, anyone("GET"), func(context.Context, *struct{}) (*httpapi.EventStream, error) {
		return httpapi.Stream(func(context.Context, *httpapi.EventWriter) error { return nil }), nil
	})
	httpapi.Register(s.api, httpapi.Operation{
		ID: "again", Method: http.MethodPost, Path: "/v1/again", Summary: "Again", Access: httpapi.Anyone, HonoursKey: true,
	}, func(context.Context, *struct{}) (*httpapi.Replayable[int], error) {
		return httpapi.Replay(200, "", 1), nil
	})
	s.api.Handle("GET /broken", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "half")
		panic("now")
	}))
	s.api.Handle("GET /cut", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	var told []httpapi.Served
	s.api.Observe(func(served httpapi.Served) { told = append(told, served) })

	order := "/v1/orders/" + establishment.String()
	for _, c := range []struct {
		method, path string
		edits        []edit
		want         httpapi.Served
	}{
		{"GET", order, []edit{with("Authorization", token(t, "customer"))}, httpapi.Served{Route: "/v1/orders/{id}", Status: 200}},
		{"HEAD", "/v1/orders", nil, httpapi.Served{Route: "/v1/orders", Status: 200}},
		{"POST", "/v1/again", nil, httpapi.Served{Route: "/v1/again", Status: 200, Replayed: true}},
		{"GET", order, nil, httpapi.Served{Route: "/v1/orders/{id}", Status: 401, Code: fault.Unauthenticated}},
		{"GET", "/v1/orders?x=1", nil, httpapi.Served{Route: "/v1/orders", Status: 400, Code: fault.InvalidRequest}},
		{"GET", "/nowhere", nil, httpapi.Served{Status: 404, Code: fault.NotFound}},
		{"BREW", "/v1/orders", nil, httpapi.Served{Status: 405, Code: fault.MethodNotAllowed}},
		{"GET", "/v1/orders", []edit{with("X", strings.Repeat("x", 17<<10))}, httpapi.Served{Status: 431}},
		{"GET", "/x", nil, httpapi.Served{Route: "/x", Status: 200, Stream: true}},
		{"GET", "/broken", nil, httpapi.Served{Route: "/broken", Status: 200}},
		{"GET", "/cut", nil, httpapi.Served{Route: "/cut"}},
	} {
		t.Run(c.method+" "+strings.TrimPrefix(c.path, "/"), func(t *testing.T) {
			told = nil
			func() {
				defer func() { _ = recover() }() // net/http would
				serve(t, s.api, c.method, c.path, c.edits...)
			}()
			c.want.Method = c.method
			if diff := cmp.Diff([]httpapi.Served{c.want}, told, cmpopts.IgnoreFields(httpapi.Served{}, "Took")); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if len(told) == 1 && told[0].Took <= 0 {
				t.Error("took no time")
			}
		})
	}
}
