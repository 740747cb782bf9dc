package e2e

import (
	"fmt"
	"strings"
	"testing"
)

func TestInput(t *testing.T) {
	keep(t,
		promise{"a quantity is an integer from 1 to 100", inputQuantity},
		promise{"a body is exactly one document of known members", inputBody},
		promise{"an amount of money never overflows", inputMoney},
		promise{"a body has at most 64 KiB and is JSON", inputMedia},
		promise{"a dish of another establishment is pointed at", inputForeignDish},
	)
}

func inputQuantity(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	for _, quantity := range []string{
		"-1", "0", "101", "1e3", "1e0", `"1"`, "1.5", "1.0", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
		"1e999", "null", "true", "[1]", "01", "+1", "0x1", "NaN", "",
	} {
		t.Run(quantity, func(t *testing.T) {
			body := fmt.Sprintf(`{"establishment_id":%q,"lines":[{"dish_id":%q,"quantity":%s}]}`, v.id, v.dishes[0].ID, quantity)
			v.alice.place(t, newKey(), body).wantProblem(t, 400, "invalid_request")
		})
	}
	v.wantNothingPlaced(t)
}

func inputBody(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	id, dish := v.id, v.dishes[0].ID
	good := string(encode(v.portions(0, 1)))
	members := strings.TrimSuffix(good, "}")
	for name, body := range map[string]string{
		"unknown member":         `{"QTY":1}`,
		"one member too many":    members + `,"tip":1}`,
		"wrong case":             strings.Replace(good, "lines", "Lines", 1),
		"wrong case of a line":   strings.Replace(good, "quantity", "Quantity", 1),
		"duplicate member":       members + fmt.Sprintf(`,"establishment_id":%q}`, id),
		"duplicate line member":  fmt.Sprintf(`{"establishment_id":%q,"lines":[{"dish_id":%q,"quantity":1,"quantity":2}]}`, id, dish),
		"null":                   "null",
		"null lines":             fmt.Sprintf(`{"establishment_id":%q,"lines":null}`, id),
		"null id":                fmt.Sprintf(`{"establishment_id":null,"lines":[{"dish_id":%q,"quantity":1}]}`, dish),
		"null comment":           members + `,"comment":null}`,
		"second document":        good + good,
		"trailing text":          good + "x",
		"nothing":                "",
		"blanks":                 "  \n",
		"array":                  "[" + good + "]",
		"text":                   `"order"`,
		"cut off":                members,
		"10 001 nested arrays":   strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
		"nested arrays in lines": fmt.Sprintf(`{"establishment_id":%q,"lines":%s}`, id, strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)),
		"invalid UTF-8":          members + ",\"comment\":\"\xff\"}",
		"lone surrogate":         members + `,"comment":"\ud800"}`,
		"comment":                members + `,"comment":"` + strings.Repeat("ж", 501) + `"}`,
		"no lines":               fmt.Sprintf(`{"establishment_id":%q,"lines":[]}`, id),
		"51 lines":               string(encode(v.order(repeated(orderLine{dish, 1}, 51)...))),
		"id that is none":        fmt.Sprintf(`{"establishment_id":"x","lines":[{"dish_id":%q,"quantity":1}]}`, dish),
		"comment that is none":   members + `,"comment":1}`,
		"byte order mark":        "\ufeff" + good,
		"comments":               "/* one */" + good,
	} {
		t.Run(name, func(t *testing.T) {
			v.alice.place(t, newKey(), body).wantProblem(t, 400, "invalid_request")
		})
	}
	v.wantNothingPlaced(t)
}

func repeated(l orderLine, n int) []orderLine {
	lines := make([]orderLine, n)
	for i := range lines {
		lines[i] = l
	}
	return lines
}

// inputMoney orders the most that can be ordered of the dearest dish there may be.
func inputMoney(t *testing.T) {
	const dearest = 1_000_000_000_00
	dear := uncounted("caviar")
	dear.Price = rub(dearest)
	v := openVenue(t, sharedSite(t), dear)
	most := v.placed(t, v.order(repeated(orderLine{v.dishes[0].ID, 100}, 50)...))
	if want := rub(dearest * 100 * 50); most.Total != want {
		t.Errorf("total is %v, want %v", most.Total, want)
	}
	for _, price := range []string{"9223372036854775807", "9223372036854775808", "-1", "1.5", "1e2", `"1"`, "null"} {
		menu := fmt.Sprintf(`{"dishes":[{"external_id":"caviar","name":"caviar","price":{"amount":%s,"currency":"RUB"}}]}`, price)
		v.cook.send(t, "PUT", v.path("/menu"), menu).wantProblem(t, 400, "invalid_request")
	}
}

func inputMedia(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	good := string(encode(v.portions(0, 1)))
	v.alice.place(t, "", good+strings.Repeat(" ", 64<<10)).wantProblem(t, 413, "payload_too_large")
	request, err := v.alice.request("POST", "/v1/orders", good)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "text/plain")
	do(t, request).wantProblem(t, 415, "unsupported_media_type")
	v.wantNothingPlaced(t)
	v.alice.place(t, "", good+strings.Repeat(" ", 64<<10-len(good))).want(t, 201)
}

func inputForeignDish(t *testing.T) {
	s := sharedSite(t)
	v, other := openVenue(t, s, counted("pelmeni", 100)), openVenue(t, s, counted("khinkali", 100))
	foreign := v.order(orderLine{v.dishes[0].ID, 1}, orderLine{other.dishes[0].ID, 1})
	p := v.alice.place(t, "", foreign).wantProblem(t, 400, "invalid_request")
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/lines/1/dish_id" {
		t.Errorf("errors %v", p.Errors)
	}
	v.wantNothingPlaced(t)
}

// replace replaces what must be there.
func replace(t *testing.T, in, old, with string) string {
	t.Helper()
	if !strings.Contains(in, old) {
		t.Fatalf("no %s in %s", old, in)
	}
	return strings.Replace(in, old, with, 1)
}
