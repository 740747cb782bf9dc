package httpapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

const schemaPrefix = "#/components/schemas/"

// publish makes of the document by which requests are checked the one that clients read. It says of answers that members
// may be added to them, and leaves out what is no word of OpenAPI.
func publish(made []byte) ([]byte, error) {
	var document map[string]any
	numbers := json.NewDecoder(bytes.NewReader(made))
	numbers.UseNumber() // bounds of 64 bits
	if err := numbers.Decode(&document); err != nil {
		return nil, err
	}
	document["servers"] = []any{map[string]any{"url": "/", "description": "The process that serves this document."}}
	openAnswers(document)
	eachObject(document, func(o map[string]any) { delete(o, "patternDescription") }) // for texts of errors
	var published bytes.Buffer
	encoder := json.NewEncoder(&published)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(document)
	return bytes.TrimSuffix(published.Bytes(), []byte("\n")), err
}

// openAnswers opens each schema that no body of a request leads to. Requests stay closed: an unknown member is refused.
func openAnswers(document map[string]any) {
	components, _ := document["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	sent := map[string]bool{}
	eachObject(document["paths"], func(o map[string]any) { follow(o["requestBody"], schemas, sent) })
	for name, s := range schemas {
		if object := s.(map[string]any); !sent[name] && object["additionalProperties"] == false {
			delete(object, "additionalProperties")
		}
	}
}

// follow collects the names of the schemas that a part of the document leads to.
func follow(part any, schemas map[string]any, names map[string]bool) {
	eachObject(part, func(o map[string]any) {
		ref, _ := o["$ref"].(string)
		if name, ok := strings.CutPrefix(ref, schemaPrefix); ok && !names[name] {
			names[name] = true
			follow(schemas[name], schemas, names)
		}
	})
}

// eachObject visits an object and every object within it.
func eachObject(part any, visit func(map[string]any)) {
	switch p := part.(type) {
	case map[string]any:
		visit(p)
		for _, member := range p {
			eachObject(member, visit)
		}
	case []any:
		for _, element := range p {
			eachObject(element, visit)
		}
	}
}
