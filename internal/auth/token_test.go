package auth

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

var testKey = Key{1, 2, 3}

func TestIdentity_Validate(t *testing.T) {
	est := uuid.New()
	for _, c := range []struct {
		name string
		id   Identity
		ok   bool
	}{
		{"customer", Identity{Subject: "alice", Role: Customer}, true},
		{"staff", Identity{Subject: "marta", Role: Staff, EstablishmentID: est}, true},
		{"longest subject", Identity{Subject: strings.Repeat("x", 64), Role: Operator}, true},
		{"subject too long", Identity{Subject: strings.Repeat("x", 65), Role: Operator}, false},
		{"no subject", Identity{Role: Service}, false},
		{"blank in subject", Identity{Subject: "a b", Role: Service}, false},
		{"not ASCII", Identity{Subject: "алиса", Role: Customer}, false},
		{"control byte", Identity{Subject: "a\x7f", Role: Customer}, false},
		{"unknown role", Identity{Subject: "a", Role: "root"}, false},
		{"no role", Identity{Subject: "a"}, false},
		{"staff of nowhere", Identity{Subject: "marta", Role: Staff}, false},
		{"operator of an establishment", Identity{Subject: "olga", Role: Operator, EstablishmentID: est}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.id.Validate(); (err == nil) != c.ok {
				t.Errorf("Validate() = %v", err)
			}
			if _, err := NewIssuer(testKey).Issue(c.id, time.Hour); (err == nil) != c.ok {
				t.Errorf("Issue() = %v", err)
			}
		})
	}
}

func TestVerifier_returns_what_was_issued(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := Identity{
			Subject: rapid.StringMatching(`[!-~]{1,64}`).Draw(t, "subject"),
			Role:    rapid.SampledFrom([]Role{Customer, Staff, Operator, Service}).Draw(t, "role"),
		}
		if id.Role == Staff {
			id.EstablishmentID = uuid.New()
		}
		token, err := NewIssuer(testKey).Issue(id, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		got, err := NewVerifier(testKey).Verify(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(id, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestVerifier_refuses(t *testing.T) {
	now := time.Now()
	good := func() jwt.MapClaims {
		return jwt.MapClaims{"iss": party, "aud": party, "sub": "alice", "role": "customer", "exp": now.Add(time.Hour).Unix()}
	}
	without := func(name string) jwt.MapClaims { c := good(); delete(c, name); return c }
	with := func(name string, v any) jwt.MapClaims { c := good(); c[name] = v; return c }
	sign := func(m jwt.SigningMethod, c jwt.MapClaims, key any) string {
		token, err := jwt.NewWithClaims(m, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	hs := func(c jwt.MapClaims) string { return sign(jwt.SigningMethodHS256, c, testKey[:]) }
	if _, err := NewVerifier(testKey).Verify(t.Context(), hs(good())); err != nil {
		t.Fatalf("the good token of this table: %v", err)
	}
	for name, token := range map[string]string{
		"nothing":                 "",
		"text":                    "not.a.token",
		"alg none":                sign(jwt.SigningMethodNone, good(), jwt.UnsafeAllowNoneSignatureType),
		"another HMAC":            sign(jwt.SigningMethodHS512, good(), testKey[:]),
		"another key":             sign(jwt.SigningMethodHS256, good(), []byte("another")),
		"no expiry":               hs(without("exp")),
		"expired":                 hs(with("exp", now.Add(-time.Second).Unix())),
		"not yet valid":           hs(with("nbf", now.Add(time.Hour).Unix())),
		"another issuer":          hs(with("iss", "else")),
		"no issuer":               hs(without("iss")),
		"another audience":        hs(with("aud", "else")),
		"no audience":             hs(without("aud")),
		"no subject":              hs(without("sub")),
		"unknown role":            hs(with("role", "root")),
		"staff of nowhere":        hs(with("role", "staff")),
		"customer with a kitchen": hs(with("establishment_id", uuid.NewString())),
		"establishment no UUID":   hs(with("establishment_id", "x")),
		"cut signature":           hs(good())[:40],
		"trailing blank":          hs(good()) + " ",
	} {
		t.Run(name, func(t *testing.T) {
			id, err := NewVerifier(testKey).Verify(t.Context(), token)
			if !errors.Is(err, ErrInvalidToken) || id != (Identity{}) {
				t.Errorf("Verify = %+v, %v", id, err)
			}
		})
	}
}

func TestIssuer_lifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := Identity{Subject: "olga", Role: Operator}
		token, err := NewIssuer(testKey).Issue(id, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second) // the bubble's clock
		if _, err := NewVerifier(testKey).Verify(t.Context(), token); err != nil {
			t.Errorf("a second before the end: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := NewVerifier(testKey).Verify(t.Context(), token); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("at the end: %v", err)
		}
		if _, err := NewIssuer(testKey).Issue(id, time.Second-1); err == nil {
			t.Error("a token that is born dead was issued")
		}
	})
}

func TestActor(t *testing.T) {
	for want, id := range map[string]Identity{
		"customer:alice": {Subject: "alice", Role: Customer},
		"staff:marta":    {Subject: "marta", Role: Staff},
		"operator:olga":  {Subject: "olga", Role: Operator},
		"service:x":      {Subject: "x", Role: Service},
	} {
		if got := id.Actor(); got != want {
			t.Errorf("Actor() = %q, want %q", got, want)
		}
	}
}
