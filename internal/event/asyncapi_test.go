package event_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"kuhnya/consume"
	"kuhnya/internal/broker"
	"kuhnya/internal/event"
	"kuhnya/internal/lifecycle"
)

// asyncAPI is api/asyncapi.yaml as far as the tests look at it by name.
type asyncAPI struct {
	Channels map[string]struct {
		Address  string
		Messages map[string]reference
	}
	Operations map[string]struct {
		Action   string
		Channel  reference
		Bindings struct {
			Kafka struct {
				GroupID struct{ Const string } `json:"groupId"`
			}
		}
	}
	Components struct {
		Messages map[string]struct{ Name string }
		Schemas  map[string]struct {
			Properties map[string]any
		}
	}
}

type reference struct {
	Ref string `json:"$ref"`
}

func (r reference) name() string { return r.Ref[strings.LastIndex(r.Ref, "/")+1:] }

// documented reads the document, as JSON and by name.
func documented(t *testing.T) (encoded []byte, d asyncAPI) {
	t.Helper()
	content, err := os.ReadFile("../../api/asyncapi.yaml")
	must(t, err)
	var tree any
	must(t, yaml.Unmarshal(content, &tree))
	encoded, err = json.Marshal(tree)
	must(t, err)
	must(t, json.Unmarshal(encoded, &d))
	return encoded, d
}

// schemaOf compiles a part of the document. A closed one also wants every member that it describes, and no other.
func schemaOf(t *testing.T, part string, closed bool) *jsonschema.Schema {
	t.Helper()
	encoded, _ := documented(t)
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	must(t, err)
	if closed {
		closeObjects(tree)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft7)
	compiler.AssertFormat()
	must(t, compiler.AddResource("asyncapi.json", tree))
	schema, err := compiler.Compile("asyncapi.json#/components/" + part)
	must(t, err)
	return schema
}

func closeObjects(tree any) {
	object, _ := tree.(map[string]any)
	if _, open := object["additionalProperties"]; open {
		object["additionalProperties"] = false
		var required []any
		for name := range object["properties"].(map[string]any) {
			required = append(required, name)
		}
		object["required"] = required
	}
	for _, member := range object {
		closeObjects(member)
	}
}

// payloads are the golden files of each message; the first has every member that there is.
var payloads = map[string][]string{
	"orderPlaced":         {"order_placed.json"},
	"orderStatusChanged":  {"order_status_changed_reason.json", "order_status_changed.json"},
	"establishmentStatus": {"establishment_status_reason.json", "establishment_status.json"},
	"bonusAccrued":        {"bonus_accrued.json"},
}

func TestAsyncAPI_describes_what_is_written(t *testing.T) {
	var described []string
	for message, files := range payloads {
		schema := schemaOf(t, "messages/"+message+"/payload", false)
		described = append(described, files...)
		for _, file := range files {
			value := decoded(t, golden(t, file))
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			value["a_later_version"] = map[string]any{}
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s with a member that nobody knows: %v", file, err)
			}
		}
		if err := schemaOf(t, "messages/"+message+"/payload", true).Validate(decoded(t, golden(t, files[0]))); err != nil {
			t.Errorf("%s has other members than are described: %v", files[0], err)
		}
	}
	equal(t, "golden files", goldenFiles(t), described)
}

func TestAsyncAPI_refuses_what_is_never_written(t *testing.T) {
	for message, files := range payloads {
		schema := schemaOf(t, "messages/"+message+"/payload", false)
		mutate(decoded(t, golden(t, files[0])), func(how string, mutant any) {
			if err := schema.Validate(mutant); (err == nil) != (how == "without reason") {
				t.Errorf("%s %s: %v", message, how, err)
			}
		})
	}
}

// mutate calls each with the value broken in one place, in every way and place.
func mutate(value any, each func(how string, mutant any)) {
	each("null", nil)
	switch v := value.(type) {
	case map[string]any:
		each("as a list", []any{})
		for name, member := range v {
			rest := maps.Clone(v)
			delete(rest, name)
			each("without "+name, rest)
			mutate(member, func(how string, mutant any) {
				broken := maps.Clone(v)
				broken[name] = mutant
				each(name+" "+how, broken)
			})
		}
	case []any:
		each("as an object", map[string]any{})
		for i, element := range v {
			mutate(element, func(how string, mutant any) {
				broken := slices.Clone(v)
				broken[i] = mutant
				each(how, broken)
			})
		}
	case string:
		each("as a number", json.Number("1"))
	default:
		each("as a text", "1")
	}
}

func TestAsyncAPI_knows_the_statuses(t *testing.T) {
	after := []lifecycle.Status{"eaten", "", "Accepted"}
	for _, c := range []struct {
		message, member string
		placedToo       bool
	}{
		{"orderStatusChanged", "from", true}, {"orderStatusChanged", "to", false}, {"establishmentStatus", "status", false},
	} {
		schema := schemaOf(t, "messages/"+c.message+"/payload", false)
		value := decoded(t, golden(t, payloads[c.message][0]))
		for _, status := range append(after, lifecycle.Statuses...) {
			value[c.member] = string(status)
			want := slices.Contains(lifecycle.Statuses, status) && (c.placedToo || status != lifecycle.Placed)
			if err := schema.Validate(value); (err == nil) != want {
				t.Errorf("%s of %s is %q: %v", c.member, c.message, status, err)
			}
		}
	}
}

func TestAsyncAPI_has_every_type(t *testing.T) {
	_, d := documented(t)
	var types []string
	for message := range payloads {
		types = append(types, d.Components.Messages[message].Name)
	}
	equal(t, "types", constants(t, ".", isType), types)
}

func TestAsyncAPI_has_every_topic_and_group(t *testing.T) {
	_, d := documented(t)
	topics := event.Topics{Prefix: event.DefaultPrefix}
	address := func(channel string) string {
		return strings.Replace(d.Channels[channel].Address, "{prefix}", topics.Prefix, 1)
	}
	var addresses, used []string
	for channel, c := range d.Channels {
		addresses = append(addresses, address(channel))
		for _, message := range c.Messages {
			used = append(used, message.name())
		}
	}
	equal(t, "topics", broker.TopicNames(topics), addresses)
	equal(t, "messages on topics", slices.Sorted(maps.Keys(d.Components.Messages)), used)

	declared, described := []string{}, []string{}
	for _, c := range topics.Consumers() {
		declared = append(declared, c.Group+" reads "+c.Topic)
	}
	for _, o := range d.Operations {
		if o.Action == "receive" {
			described = append(described, o.Bindings.Kafka.GroupID.Const+" reads "+address(o.Channel.name()))
		}
	}
	equal(t, "readers", declared, described)
}

func TestAsyncAPI_has_every_header(t *testing.T) {
	_, d := documented(t)
	properties := func(schema string) []string {
		return slices.Sorted(maps.Keys(d.Components.Schemas[schema].Properties))
	}
	written := headersOf(t, event.BonusAccruedType)
	redriven := []string{consume.HeaderRedriveGroup, consume.HeaderRedriveCount}
	equal(t, "headers of records", append(slices.Sorted(maps.Keys(written)), redriven...), properties("envelope"))
	letters := constants(t, "../../consume", func(name string) bool {
		return strings.HasPrefix(name, "Header") && name != "HeaderRedriveGroup"
	})
	equal(t, "headers of dead letters", letters, properties("deadLetterHeaders"))

	for message := range payloads {
		kind := d.Components.Messages[message].Name
		schema := schemaOf(t, "messages/"+message+"/headers", false)
		if err := schema.Validate(headersOf(t, event.Type(kind))); err != nil {
			t.Errorf("headers of %s: %v", kind, err)
		}
		if err := schema.Validate(headersOf(t, "weather.changed.v1")); err == nil {
			t.Errorf("headers of %s may be of another type", kind)
		}
		if bare := schema.Validate(map[string]any{}); (bare == nil) != (kind == string(event.EstablishmentStatusType)) {
			t.Errorf("no headers for %s: %v", kind, bare)
		}
	}
}

// headersOf are the headers of a fact that has all of them.
func headersOf(t *testing.T, kind event.Type) map[string]any {
	t.Helper()
	message, err := event.Fact{
		ID: eventID, Type: kind, Source: "bonus", OrderID: orderID, At: placedAt, IdempotencyKey: "k",
		TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}.Message()
	must(t, err)
	headers := map[string]any{}
	for _, h := range message.Headers {
		headers[h.Key] = string(h.Value)
	}
	return headers
}

func decoded(t *testing.T, value []byte) map[string]any {
	t.Helper()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	must(t, err)
	return tree.(map[string]any)
}

// equal compares what the code has with what the document has, as sets.
func equal(t *testing.T, what string, code, document []string) {
	t.Helper()
	set := func(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }
	if diff := cmp.Diff(set(code), set(document)); diff != "" {
		t.Errorf("%s (-code +document):\n%s", what, diff)
	}
}
