package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

func TestBodies(t *testing.T) {
	s := newSample(t)
	customer := with("Authorization", token(t, auth.Customer))
	id := establishment.String()
	secret := "s3cret"
	for _, c := range []struct{ name, body, pointer string }{
		{"unknown member", `{"` + secret + `":1,` + validOrder()[1:], "/" + secret},
		{"unknown member in a line", orderOf(`"quantity":1,"a/b~":1`), "/lines/0/a~1b~0"},
		{"duplicate member", orderOf(`"quantity":1,"quantity":2`), "/lines/0/quantity"},
		{"wrong case", orderOf(`"Quantity":1`), "/lines/0/Quantity"},
		{"upper case beside the right one", orderOf(`"quantity":1,"QUANTITY":2`), "/lines/0/QUANTITY"},
		{"missing member", orderOf(`"expected_price":1`), "/lines/0/quantity"},
		{"null for an integer", orderOf(`"quantity":null`), "/lines/0/quantity"},
		{"null for an optional integer", orderOf(`"quantity":1,"expected_price":null`), "/lines/0/expected_price"},
		{"null for an array", `{"establishment_id":"` + id + `","lines":null}`, "/lines"},
		{"null in an array", `{"establishment_id":"` + id + `","lines":[null]}`, "/lines/0"},
		{"null for an optional text", `{"comment":null,` + validOrder()[1:], "/comment"},
		{"null", `null`, ""},
		{"1.0", orderOf(`"quantity":1.0`), "/lines/0/quantity"},
		{"1.5", orderOf(`"quantity":1.5`), "/lines/0/quantity"},
		{"1e3", orderOf(`"quantity":1e3`), "/lines/0/quantity"},
		{"1e0", orderOf(`"quantity":1e0`), "/lines/0/quantity"},
		{"text for an integer", orderOf(`"quantity":"1"`), "/lines/0/quantity"},
		{"zero", orderOf(`"quantity":0`), "/lines/0/quantity"},
		{"negative", orderOf(`"quantity":-1`), "/lines/0/quantity"},
		{"the largest int64", orderOf(`"quantity":9223372036854775807`), "/lines/0/quantity"},
		{"above int64", orderOf(`"quantity":9223372036854775808`), "/lines/0/quantity"},
		{"above int64 without maximum", orderOf(`"quantity":1,"expected_price":9223372036854775808`), "/lines/0/expected_price"},
		{"no lines", `{"establishment_id":"` + id + `","lines":[]}`, "/lines"},
		{"51 lines", `{"establishment_id":"` + id + `","lines":[` + strings.Repeat(`{},`, 50) + `{}]}`, "/lines"},
		{"comment too long", `{"comment":"` + strings.Repeat("я", 501) + `",` + validOrder()[1:], "/comment"},
		{"UUID in braces", strings.ReplaceAll(validOrder(), id, "{"+id+"}"), "/establishment_id"},
		{"UUID as URN", strings.ReplaceAll(validOrder(), id, "urn:uuid:"+id), "/establishment_id"},
		{"UUID without dashes", strings.ReplaceAll(validOrder(), id, strings.ReplaceAll(id, "-", "")), "/establishment_id"},
		{"trailing token", validOrder() + `]`, ""},
		{"second document", validOrder() + validOrder(), ""},
		{"open object", `{`, ""},
		{"array", `[]`, ""},
		{"text", `"x"`, ""},
		{"empty", ``, ""},
		{"blanks", `  `, ""},
		{"comment in JSON", `/* x */` + validOrder(), ""},
		{"byte order mark", "\uFEFF" + validOrder(), ""},
		{"invalid UTF-8", `{"comment":"` + "\xff" + `",` + validOrder()[1:], "/comment"},
		{"invalid UTF-8 in a name", `{"` + "\xff" + `":1}`, ""},
		{"lone surrogate", `{"comment":"\ud800",` + validOrder()[1:], "/comment"},
		{"U+0000", `{"comment":"a\u0000b",` + validOrder()[1:], "/comment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.call(t, "POST", "/v1/orders", c.body, customer)
			a.mustBe(t, 400, fault.InvalidRequest)
			found := c.body == "" // a missing body is nowhere
			for _, e := range a.problem.Errors {
				found = found || e.Pointer == c.pointer && e.Detail != ""
			}
			if !found {
				t.Errorf("no error at %q: %s", c.pointer, a.body)
			}
			if strings.Contains(strings.ReplaceAll(a.body, "/"+secret, ""), secret) {
				t.Errorf("the input came back: %s", a.body)
			}
		})
	}
	if s.placed != 0 {
		t.Errorf("%d refused orders reached the handler", s.placed)
	}
}

func TestBodies_accepted(t *testing.T) {
	s := newSample(t)
	customer := with("Authorization", token(t, auth.Customer))
	id := establishment.String()
	for name, body := range map[string]string{
		"plain":                          validOrder(),
		"white space":                    " \n" + strings.ReplaceAll(validOrder(), ",", ",\r\n\t") + " \n",
		"the letters null in a text":     `{"comment":"null and void",` + validOrder()[1:],
		"an escaped backslash before u0": `{"comment":"\\u0000",` + validOrder()[1:],
		"every optional member":          orderOf(`"quantity":100,"expected_price":9223372036854775807`),
		"upper-case UUID":                strings.ReplaceAll(validOrder(), id, strings.ToUpper(id)),
		"500 characters":                 `{"comment":"` + strings.Repeat("я", 500) + `",` + validOrder()[1:],
		"surrogate pair":                 `{"comment":"\ud83c\udf7d",` + validOrder()[1:],
		"64 KiB":                         validOrder() + strings.Repeat(" ", httpapi.MaxBody-len(validOrder())),
	} {
		t.Run(name, func(t *testing.T) {
			a := s.call(t, "POST", "/v1/orders", body, customer)
			if a.status != 201 || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

func TestBodies_of_hostile_size(t *testing.T) {
	s := newSample(t)
	customer := with("Authorization", token(t, auth.Customer))
	large := validOrder() + strings.Repeat(" ", httpapi.MaxBody+1-len(validOrder()))

	t.Run("one byte over 64 KiB, announced", func(t *testing.T) {
		s.call(t, "POST", "/v1/orders", large, customer).mustBe(t, 413, fault.PayloadTooLarge)
	})
	t.Run("one byte over 64 KiB, in chunks", func(t *testing.T) {
		chunked := func(r *http.Request) { r.ContentLength = -1 }
		s.call(t, "POST", "/v1/orders", large, customer, chunked).mustBe(t, 413, fault.PayloadTooLarge)
	})
	t.Run("10 001 nested arrays", func(t *testing.T) {
		body := `{"lines":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`
		a := s.call(t, "POST", "/v1/orders", body, customer)
		a.mustBe(t, 400, fault.InvalidRequest)
		if len(a.body) > 1000 {
			t.Errorf("%d bytes came back", len(a.body))
		}
	})
	t.Run("9 000 nested arrays are refused by their shape", func(t *testing.T) {
		body := `{"lines":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`
		a := s.call(t, "POST", "/v1/orders", body, customer)
		a.mustBe(t, 400, fault.InvalidRequest)
		if len(a.body) > 4000 {
			t.Errorf("%d bytes came back", len(a.body))
		}
	})
	t.Run("thousands of faults", func(t *testing.T) {
		a := s.call(t, "POST", "/v1/orders", `{"lines":[`+strings.Repeat(`1,`, 30_000)+`1]}`, customer)
		a.mustBe(t, 400, fault.InvalidRequest)
		if len(a.problem.Errors) != 20 {
			t.Errorf("%d errors came back", len(a.problem.Errors))
		}
	})
	t.Run("a name of 60 KB", func(t *testing.T) {
		a := s.call(t, "POST", "/v1/orders", `{"`+strings.Repeat("я", 30_000)+`":1}`, customer)
		a.mustBe(t, 400, fault.InvalidRequest)
		if len(a.body) > 2000 {
			t.Errorf("%d bytes came back", len(a.body))
		}
	})
	t.Run("headers of 15 KiB", func(t *testing.T) {
		if a := s.call(t, "GET", "/v1/orders", "", with("X-Fill", strings.Repeat("x", 15<<10))); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("headers over 16 KiB", func(t *testing.T) {
		if a := s.call(t, "GET", "/v1/orders", "", with("X-Fill", strings.Repeat("x", 16<<10))); a.status != 431 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestMediaTypes(t *testing.T) {
	s := newSample(t)
	customer := with("Authorization", token(t, auth.Customer))
	for _, c := range []struct {
		name  string
		lines []string
		want  int
	}{
		{"json", []string{"application/json"}, 201},
		{"json in UTF-8", []string{"application/json; charset=utf-8"}, 201},
		{"json in quoted UTF-8, no blank", []string{`application/json;charset="UTF-8"`}, 201},
		{"upper case", []string{"Application/JSON"}, 201},
		{"none", nil, 415},
		{"empty", []string{""}, 415},
		{"text", []string{"text/plain"}, 415},
		{"form", []string{"application/x-www-form-urlencoded"}, 415},
		{"suffix", []string{"application/foo+json"}, 415},
		{"bare json", []string{"json"}, 415},
		{"problem", []string{"application/problem+json"}, 415},
		{"latin1", []string{"application/json; charset=latin1"}, 415},
		{"other parameter", []string{"application/json; version=2"}, 415},
		{"two lines", []string{"application/json", "application/json"}, 415},
		{"two types in a line", []string{"application/json, application/json"}, 415},
		{"broken parameter", []string{"application/json; charset"}, 415},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.call(t, "POST", "/v1/orders", validOrder(), customer, with("Content-Type", c.lines...))
			if a.status != c.want {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if c.want == 415 {
				a.mustBe(t, 415, fault.UnsupportedMediaType)
			}
		})
	}
	t.Run("an optional body", func(t *testing.T) {
		cancel := "/v1/orders/" + establishment.String() + "/cancel"
		none := with("Content-Type")
		if a := s.call(t, "POST", cancel, "", customer, none); a.status != 200 || a.body != `"no reason"` {
			t.Errorf("without: %d %s", a.status, a.body)
		}
		if a := s.call(t, "POST", cancel, `{"reason":"late"}`, customer); a.status != 200 || a.body != `"late"` {
			t.Errorf("with: %d %s", a.status, a.body)
		}
		s.call(t, "POST", cancel, `{"reason":"late"}`, customer, none).mustBe(t, 415, fault.UnsupportedMediaType)
	})
	t.Run("Accept can't break an answer", func(t *testing.T) {
		for _, accept := range []string{"a;,x", "text/html", "application/cbor", ";;,,", "*/*;q=0"} {
			if a := s.call(t, "GET", "/v1/orders", "", with("Accept", accept)); a.status != 200 {
				t.Errorf("Accept %q: %d %s", accept, a.status, a.body)
			}
		}
	})
}
