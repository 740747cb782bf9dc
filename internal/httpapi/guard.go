package httpapi

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
)

var (
	errNoToken   = fault.New(fault.Unauthenticated, "This needs a bearer token.")
	errBadToken  = fault.New(fault.Unauthenticated, "The bearer token is not valid.")
	errForbidden = fault.New(fault.Forbidden, "Your role may not do this.")
	errKey       = fault.New(fault.IdempotencyKeyInvalid,
		"Idempotency-Key must be one line of 1 to 255 visible ASCII characters, bare or as a quoted string.")
)

// guard runs every check that comes before the shape of a request, in the order of the contract.
func (a *API) guard(op Operation, f form) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		ctx, err := a.admit(r, op, f)
		if err != nil {
			a.problem(r.Context(), err).write(w)
			return
		}
		// From here on there is one media type; huma's own idea of both headers is laxer, and can panic on Accept.
		r.Header.Del("Accept")
		r.Header.Set("Content-Type", "application/json")
		next(huma.WithContext(hc, context.WithValue(ctx, exchangeKey{}, exchange{api: a, writer: w})))
	}
}

func (a *API) admit(r *http.Request, op Operation, f form) (context.Context, error) {
	ctx, err := a.authenticate(r, op.Access)
	if err != nil {
		return nil, err
	}
	if err := checkBody(r, f); err != nil {
		return nil, err
	}
	if op.HonoursKey {
		if ctx, err = a.readKey(ctx, r); err != nil {
			return nil, err
		}
	}
	return ctx, checkURL(r.URL)
}

func (a *API) authenticate(r *http.Request, access Access) (context.Context, error) {
	lines := r.Header["Authorization"]
	if len(lines) == 0 {
		if access.anonymous {
			return r.Context(), nil
		}
		return nil, errNoToken
	}
	token, ok := bearer(lines)
	if !ok {
		return nil, errBadToken
	}
	id, err := a.config.Verifier.Verify(r.Context(), token)
	switch {
	case errors.Is(err, auth.ErrInvalidToken):
		return nil, errBadToken.Because(err)
	case err != nil:
		return nil, err
	case !access.admits(id.Role):
		return nil, errForbidden
	}
	return auth.WithIdentity(r.Context(), id), nil
}

// bearer reads the token of exactly one line "Bearer <token>" (RFC 6750).
func bearer(lines []string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(lines[0], " ")
	return token, len(lines) == 1 && strings.EqualFold(scheme, "Bearer") && token != ""
}

func checkBody(r *http.Request, f form) error {
	if f.required || f.body && (r.ContentLength != 0 || len(r.Header["Content-Type"]) > 0) {
		if !isJSON(r.Header["Content-Type"]) {
			return errMedia
		}
	}
	if r.ContentLength > MaxBody {
		return errTooLarge
	}
	return nil
}

// isJSON wants one line application/json with no parameter but charset=utf-8.
func isJSON(lines []string) bool {
	if len(lines) != 1 {
		return false
	}
	kind, params, err := mime.ParseMediaType(lines[0])
	if err != nil || kind != "application/json" {
		return false
	}
	charset, given := params["charset"]
	delete(params, "charset")
	return len(params) == 0 && (!given || strings.EqualFold(charset, "utf-8"))
}

func (a *API) readKey(ctx context.Context, r *http.Request) (context.Context, error) {
	key, present, err := a.config.ParseKey(r.Header["Idempotency-Key"])
	if err != nil {
		return nil, &fault.Error{Code: fault.IdempotencyKeyInvalid, Detail: errKey.Detail,
			Pointers: []fault.Pointer{{Pointer: "/Idempotency-Key", Detail: err.Error()}}}
	}
	if present {
		ctx = context.WithValue(ctx, idempotencyKey{}, key)
	}
	return ctx, nil
}

// checkURL refuses what readers of a query disagree about, and bytes that are no text for a database.
func checkURL(u *url.URL) error {
	if !isText(u.Path) {
		return errNotFound
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault.Invalid("", "the query string is malformed")
	}
	f := *errShape
	for name, values := range query {
		if len(values) > 1 {
			f.Pointers = append(f.Pointers, fault.Pointer{Pointer: pointerOf("." + name), Detail: "occurs more than once"})
		}
		if values[0] == "" {
			f.Pointers = append(f.Pointers, fault.Pointer{Pointer: pointerOf("." + name), Detail: "is empty; leave it out instead"})
		}
		if !isText(name) || !isText(values[0]) {
			f.Pointers = append(f.Pointers, fault.Pointer{Pointer: pointerOf("." + name), Detail: "is not text in UTF-8"})
		}
	}
	if len(f.Pointers) > 0 {
		return &f
	}
	return nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

type (
	exchangeKey    struct{}
	idempotencyKey struct{}
)

// exchange is what the handlers of this package need of the request that they run in.
type exchange struct {
	api    *API
	writer http.ResponseWriter
}

// IdempotencyKey returns the key that the client sent, in its canonical form, if the operation honours keys and there
// was one.
func IdempotencyKey(ctx context.Context) (key string, present bool) {
	key, present = ctx.Value(idempotencyKey{}).(string)
	return key, present
}

// unlimitReading takes back the limit on reading once the body is here. net/http goes on reading to learn whether the
// client has gone, and would take the time-out for that.
func unlimitReading(ctx context.Context) {
	if x, ok := ctx.Value(exchangeKey{}).(exchange); ok {
		_ = http.NewResponseController(x.writer).SetReadDeadline(time.Time{}) // a recorder in a test has no deadlines
	}
}
