package handbook

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestSchema_is_described_in_words(t *testing.T) {
	for document, want := range map[string]string{
		`{"type":"string"}`:                                                                     `string`,
		`{"type":"string","maxLength":500}`:                                                     `string, at most 500 characters`,
		`{"type":"string","format":"uuid"}`:                                                     `UUID`,
		`{"type":"string","format":"date-time"}`:                                                `time, RFC 3339`,
		`{"type":"string","enum":["open","<b>"]}`:                                               `<code>open</code> <code>&lt;b&gt;</code>`,
		`{"type":["integer","null"],"format":"int64"}`:                                          `integer or null`,
		`{"type":"integer","minimum":1,"maximum":100}`:                                          `integer, 1 to 100`,
		`{"type":"integer","minimum":0}`:                                                        `integer, at least 0`,
		`{"type":"integer","default":50}`:                                                       `integer, default 50`,
		`{"$ref":"#/components/schemas/Money"}`:                                                 `<a href="#object-Money">Money</a>`,
		`{"type":"array","items":{"type":"string"}}`:                                            `list of string`,
		`{"type":"array","items":{"$ref":"#/components/schemas/L"},"minItems":1,"maxItems":50}`: `list of <a href="#object-L">L</a>, 1 to 50 items`,
		`{}`: `any value`,
	} {
		var s schema
		if err := json.Unmarshal([]byte(document), &s); err != nil {
			t.Fatal(err)
		}
		if got := string(s.describe()); got != want {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}

func TestMembers_that_must_be_there_come_first_in_the_order_of_the_definition(t *testing.T) {
	s := schema{Required: []string{"z", "m"}, Properties: map[string]schema{"a": {}, "b": {}, "m": {}, "z": {}}}
	var names []string
	for _, m := range s.members() {
		names = append(names, m.Name)
	}
	if !slices.Equal(names, []string{"z", "m", "a", "b"}) {
		t.Error(names)
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"a < b":               "a &lt; b",
		"see `errors`":        "see <code>errors</code>",
		"`out_of_stock` here": `<a href="/problems/out-of-stock"><code>out_of_stock</code></a> here`,
		"`<script>`":          "<code>&lt;script&gt;</code>",
	} {
		if got := string(prose(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
