package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"kuhnya/internal/auth"
)

// Verifier tells whom a bearer token was issued for. An error that wraps [auth.ErrInvalidToken] is answered with 401,
// any other like an error of a handler.
type Verifier interface {
	Verify(ctx context.Context, token string) (auth.Identity, error)
}

// Config is what an [API] needs from outside.
type Config struct {
	Title, Version, Description string // of the OpenAPI document

	Verifier Verifier
	// ParseKey reads the lines of the Idempotency-Key header; present is false if there is none. The text of its error is
	// shown to the client. It may be nil if no operation honours keys.
	ParseKey func(lines []string) (key string, present bool, err error)
	// Transient says of an error without a code that the same request may succeed later: 503 instead of 500. May be nil.
	Transient func(error) bool
	// MaxStreams is how many event streams may be open at once; 0 means [DefaultMaxStreams].
	MaxStreams int
	// Logger gets each line with the context of its request, from which package trace adds request id and trace id.
	Logger *slog.Logger
}

// API is a set of operations behind one handler. Register everything first, then serve.
type API struct {
	config       Config
	mux          *http.ServeMux
	huma         huma.API
	document     func() document
	observer     func(Served)    // nil: nobody counts
	streams      context.Context // ends when streams have to
	closeStreams context.CancelFunc
	streaming    chan struct{} // holds a token for each open stream
}

// New returns an API without operations that serves its OpenAPI document.
func New(config Config) *API {
	setGlobals()
	a := &API{config: config, mux: http.NewServeMux()}
	a.huma = humago.New(a.mux, humaConfig(config))
	a.document = sync.OnceValue(func() document { return render(a.huma.OpenAPI()) })
	a.streams, a.closeStreams = context.WithCancel(context.Background())
	a.streaming = make(chan struct{}, cmp.Or(config.MaxStreams, DefaultMaxStreams))
	a.mux.HandleFunc("GET /openapi.json", a.serveJSON)
	a.mux.HandleFunc("GET /openapi.yaml", a.serveYAML)
	return a
}

// Handle adds a route beside the operations, by a pattern of [http.ServeMux]: health checks, pages. It gets request id,
// trace, panic recovery and access log, but none of the checks of an operation.
func (a *API) Handle(pattern string, handler http.Handler) { a.mux.Handle(pattern, handler) }

// CloseStreams ends every event stream, running or to come, as the first step of a shutdown.
func (a *API) CloseStreams() { a.closeStreams() }

func humaConfig(c Config) huma.Config {
	h := huma.DefaultConfig(c.Title, c.Version)
	h.Info.Description = c.Description
	h.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	format := huma.Format{Unmarshal: decode, Marshal: encodeTo}
	h.Formats = map[string]huma.Format{
		"application/json": format,
		"json":             format, // what application/problem+json is looked up by
	}
	h.CreateHooks = nil // they would put $schema into every body
	h.OpenAPIPath, h.SchemasPath, h.DocsPath = "", "", ""
	h.RejectUnknownQueryParameters = true
	h.Components.Schemas = huma.NewMapRegistry(schemaPrefix, schemaName)
	h.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", BearerFormat: "JWT"},
	}
	return h
}

// setGlobals changes what huma keeps in package variables. They are read by each registration and request, so they are
// written once, before the first of either.
var setGlobals = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	huma.NewErrorWithContext = translate
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return translate(nil, status, msg, errs...)
	}
})
