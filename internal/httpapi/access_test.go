package httpapi_test

import (
	"strings"
	"testing"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
)

func TestAccess(t *testing.T) {
	s := newSample(t)
	good := token(t, auth.Customer)
	none := with("Authorization")
	for _, c := range []struct {
		name   string
		method string
		path   string
		auth   edit
		status int
	}{
		{"customer", "POST", "/v1/orders", with("Authorization", good), 201},
		{"scheme in lower case", "POST", "/v1/orders", with("Authorization", strings.Replace(good, "Bearer", "bearer", 1)), 201},
		{"nobody", "POST", "/v1/orders", none, 401},
		{"forged", "POST", "/v1/orders", with("Authorization", good+"x"), 401},
		{"empty", "POST", "/v1/orders", with("Authorization", ""), 401},
		{"no token", "POST", "/v1/orders", with("Authorization", "Bearer"), 401},
		{"no scheme", "POST", "/v1/orders", with("Authorization", strings.TrimPrefix(good, "Bearer ")), 401},
		{"another scheme", "POST", "/v1/orders", with("Authorization", "Basic YTpi"), 401},
		{"two lines", "POST", "/v1/orders", with("Authorization", good, good), 401},
		{"wrong role", "POST", "/v1/orders", with("Authorization", token(t, auth.Staff)), 403},
		{"any role where any may", "GET", "/v1/orders/" + establishment.String(), with("Authorization", token(t, auth.Service)), 200},
		{"nobody where one must sign in", "GET", "/v1/orders/" + establishment.String(), none, 401},
		{"nobody where anyone may", "GET", "/v1/orders", none, 200},
		{"a bad token where anyone may", "GET", "/v1/orders", with("Authorization", "Bearer x"), 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.call(t, c.method, c.path, validOrder(), c.auth)
			switch c.status {
			case 401:
				a.mustBe(t, 401, fault.Unauthenticated)
				if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("WWW-Authenticate: %q", a.header.Get("WWW-Authenticate"))
				}
			case 403:
				a.mustBe(t, 403, fault.Forbidden)
			default:
				if a.status != c.status {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
		})
	}
}

func TestOrderOfChecks(t *testing.T) {
	s := newSample(t)
	customer, staff := with("Authorization", token(t, auth.Customer)), with("Authorization", token(t, auth.Staff))
	text, badKey := with("Content-Type", "text/plain"), with("Idempotency-Key", "")
	s.call(t, "POST", "/v1/orders", `{`, text, badKey).mustBe(t, 401, fault.Unauthenticated)
	s.call(t, "POST", "/v1/orders", `{`, text, badKey, staff).mustBe(t, 403, fault.Forbidden)
	s.call(t, "POST", "/v1/orders", `{`, text, badKey, customer).mustBe(t, 415, fault.UnsupportedMediaType)
	s.call(t, "POST", "/v1/orders", strings.Repeat(" ", 70_000), badKey, customer).mustBe(t, 413, fault.PayloadTooLarge)
	s.call(t, "POST", "/v1/orders?x=1", `{`, badKey, customer).mustBe(t, 400, fault.IdempotencyKeyInvalid)
	s.call(t, "POST", "/v1/orders", `{`, customer).mustBe(t, 400, fault.InvalidRequest)
	if s.placed != 0 {
		t.Errorf("%d refused orders reached the handler", s.placed)
	}
}

func TestKeys(t *testing.T) {
	s := newSample(t)
	customer := with("Authorization", token(t, auth.Customer))
	t.Run("two lines", func(t *testing.T) {
		a := s.call(t, "POST", "/v1/orders", validOrder(), customer, with("Idempotency-Key", "a", "a"))
		a.mustBe(t, 400, fault.IdempotencyKeyInvalid)
		if !strings.Contains(a.body, `"pointer":"/Idempotency-Key","detail":"bad key"`) {
			t.Error(a.body)
		}
	})
	t.Run("reaches the handler", func(t *testing.T) {
		a := s.call(t, "POST", "/v1/orders", validOrder(), customer, with("Idempotency-Key", "k1"))
		if a.status != 201 || !strings.Contains(a.body, `"idempotency_key":"k1"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("is ignored where it has no meaning", func(t *testing.T) {
		if a := s.call(t, "GET", "/v1/orders", "", with("Idempotency-Key", "", "")); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("a replay is marked, the first answer is not", func(t *testing.T) {
		first := s.call(t, "POST", "/v1/orders", validOrder(), customer)
		again := s.call(t, "POST", "/v1/orders", validOrder(), customer, with("Idempotency-Key", "again"))
		if first.header.Get("Location") != again.header.Get("Location") || again.header.Get("Location") == "" {
			t.Errorf("Location %q, then %q", first.header.Get("Location"), again.header.Get("Location"))
		}
		if _, marked := first.header["Idempotent-Replayed"]; marked || first.status != 201 {
			t.Errorf("first: %d %v", first.status, first.header)
		}
		if again.header.Get("Idempotent-Replayed") != "true" || again.status != 200 {
			t.Errorf("again: %d %v", again.status, again.header)
		}
	})
}
