package httpapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

// streamer is an API with one stream, of which one may be open at a time.
type streamer struct {
	url     string
	running chan struct{} // gets a token when a stream runs
}

func newStreamer(t *testing.T) *streamer {
	t.Helper()
	s := &streamer{running: make(chan struct{}, 10)}
	api := httpapi.New(httpapi.Config{
		Verifier: auth.NewVerifier(key), MaxStreams: 1, Logger: slog.New(slog.DiscardHandler),
	})
	op := anyone(http.MethodGet)
	op.Success = []int{200, 204}
	httpapi.Register(api, op, func(_ context.Context, in *struct {
		Over bool `query:"over"`
	}) (*httpapi.EventStream, error) {
		if in.Over {
			return httpapi.StreamEnded(), nil
		}
		return httpapi.Stream(func(ctx context.Context, _ *httpapi.EventWriter) error {
			s.running <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}), nil
	})
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(api.CloseStreams)
	s.url = server.URL + "/x"
	return s
}

func (s *streamer) call(t *testing.T, method, query string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestStream_limit(t *testing.T) {
	s := newStreamer(t)
	first := s.call(t, "GET", "")
	<-s.running
	refused := s.call(t, "GET", "")
	var p httpapi.Problem
	if err := json.NewDecoder(refused.Body).Decode(&p); err != nil || p.Code != fault.Unavailable {
		t.Errorf("%+v, %v", p, err)
	}
	if refused.StatusCode != 503 || refused.Header.Get("Retry-After") != "1" || len(s.running) > 0 {
		t.Errorf("one too many: %d %v", refused.StatusCode, refused.Header)
	}
	first.Body.Close() // the place becomes free once the server has noticed
	for s.call(t, "GET", "").StatusCode != 200 {
	}
}

func TestStream_that_ended_answers_204(t *testing.T) {
	s := newStreamer(t)
	for range 3 { // more than may be open
		if res := s.call(t, "GET", "?over=true"); res.StatusCode != 204 || res.Header.Get("Content-Type") != "" {
			t.Errorf("%d %v", res.StatusCode, res.Header)
		}
	}
}

func TestStream_answers_HEAD_with_headers_only(t *testing.T) {
	s := newStreamer(t)
	for range 3 {
		res := s.call(t, "HEAD", "")
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%d %v", res.StatusCode, res.Header)
		}
	}
	if len(s.running) > 0 {
		t.Error("a stream runs that nobody reads")
	}
}

func TestStream_documents_204_without_content(t *testing.T) {
	api := httpapi.New(httpapi.Config{Verifier: auth.NewVerifier(key)})
	op := anyone(http.MethodGet)
	op.Success = []int{200, 204}
	httpapi.Register(api, op, func(context.Context, *struct{}) (*httpapi.EventStream, error) { return nil, nil })
	var doc struct {
		Paths map[string]map[string]operationDoc
	}
	_, text := api.OpenAPI()
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	responses := doc.Paths["/x"]["get"].Responses
	if ended, ok := responses["204"]; !ok || ended.Content != nil || responses["200"].Content["text/event-stream"] == nil {
		t.Errorf("%+v", responses)
	}
}
