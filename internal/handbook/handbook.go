// Package handbook is the documentation that the process serves about itself: /docs for those who build on the API,
// /docs/events and /asyncapi.yaml for those who read or write its topics, and /problems with a page for every kind of
// problem document, to which the type of each document leads.
//
// Guarantee: what can drift is not written down twice. The reference is made of the OpenAPI document that the process
// serves, the problems of [httpapi.Kinds], the example records of the types that are published, the page about events is
// docs/EVENTS.md, which tests compare with the code, and the commands shown are files that a test runs against the real
// binary. The pages need no script and nothing from any other host, and their Content-Security-Policy holds them to it.
//
// Failure model: everything is rendered once, at the first request, from what is built in; a fault in it panics, and a
// test renders all of it.
//
// What this package does not do: it knows no session and shows nobody's data.
package handbook

import (
	"bytes"
	"embed"
	"net/http"
	"regexp"
	"sync"

	"kuhnya/internal/httpapi"
)

//go:embed assets
var assets embed.FS

// policy lets a page load its own style and script, and nothing else from anywhere.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// defaultHost is the host in the examples as they are written.
const defaultHost = "127.0.0.1:8080"

// plainHost is what may stand in a command without being quoted.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.\[\]:-]+$`)

// Register adds the pages to an API. Its operations may be registered before or after.
func Register(api *httpapi.API) {
	book := sync.OnceValue(func() *book { return newBook(api) })
	api.Handle("GET /docs", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := book().guide
		if plainHost.MatchString(r.Host) {
			page = bytes.ReplaceAll(page, []byte(defaultHost), []byte(r.Host))
		}
		send(w, http.StatusOK, page)
	}))
	api.Handle("GET /docs/events", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, book().events)
	}))
	api.Handle("GET /asyncapi.yaml", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.aai.asyncapi+yaml")
		_, _ = w.Write(asyncAPI)
	}))
	api.Handle("GET /problems", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, book().problems)
	}))
	api.Handle("GET /problems/{slug}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := book().problem[r.PathValue("slug")]; ok {
			send(w, http.StatusOK, page)
			return
		}
		send(w, http.StatusNotFound, book().missing)
	}))
	for _, name := range []string{"handbook.css", "handbook.js"} {
		api.Handle("GET /docs/"+name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, assets, "assets/"+name)
		}))
	}
}

func send(w http.ResponseWriter, status int, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_, _ = w.Write(page)
}
