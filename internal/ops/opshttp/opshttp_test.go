package opshttp_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kuhnya/internal/auth"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops/opshttp"
)

var key = auth.Key{7}

// serve is an API with the endpoints of one service.
func serve(t *testing.T, service opshttp.Service) client {
	api := httpapi.New(httpapi.Config{
		Title: "Test", Version: "1", Verifier: auth.NewVerifier(key), Logger: slog.New(slog.DiscardHandler),
	})
	opshttp.Register(api, service)
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	return client{t, server.URL, auth.Operator}
}

// client calls as somebody with a role.
type client struct {
	*testing.T
	url  string
	role auth.Role
}

func (c client) call(method, path, body string) (status int, answer string) {
	c.Helper()
	request, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	c.must(err)
	token, err := auth.NewIssuer(key).Issue(auth.Identity{Subject: "root", Role: c.role}, time.Hour)
	c.must(err)
	request.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	c.must(err)
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	c.must(err)
	return response.StatusCode, string(read)
}

// want fails the test unless the answer has this status and this text in it.
func (c client) want(method, path, body string, status int, text string) {
	c.Helper()
	if got, answer := c.call(method, path, body); got != status || !strings.Contains(answer, text) {
		c.Errorf("%s %s: %d %s, want %d with %s", method, path, got, answer, status, text)
	}
}

func (c client) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func none[T any](context.Context) (T, error) {
	var nothing T
	return nothing, nil
}
