package handbook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// schema is the part of a JSON schema that the API's document uses.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 types
	Format               string
	Description          string
	Enum                 []any
	Default              any
	Minimum, Maximum     *int64
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
	Pattern              string
	Items                *schema
	Properties           map[string]schema
	Required             []string
}

// types is one type or several.
type types []string

func (t *types) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(t))
	}
	*t = make(types, 1)
	return json.Unmarshal(data, &(*t)[0])
}

// member is one member of an object, or one parameter.
type member struct {
	Name     string
	In       string // of a parameter: path, query or header
	Type     template.HTML
	Required bool
	Text     string
}

// object is the name of the object that the schema refers to, or "".
func (s schema) object() string {
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// members lists what an object must have, in the order of its definition, and then what it may have.
func (s schema) members() (list []member) {
	for _, name := range s.Required {
		list = append(list, s.Properties[name].member(name, true))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			list = append(list, s.Properties[name].member(name, false))
		}
	}
	return list
}

func (s schema) member(name string, required bool) member {
	return member{Name: name, Type: s.describe(), Required: required, Text: s.Description}
}

// describe says in words what a value must be.
func (s schema) describe() template.HTML {
	if name := s.object(); name != "" {
		name = template.HTMLEscapeString(name)
		return template.HTML(`<a href="#object-` + name + `">` + name + `</a>`)
	}
	kind := strings.Join(slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" }), " or ")
	text := template.HTML(template.HTMLEscapeString(cmp.Or(kind, "any value")))
	switch {
	case s.Items != nil:
		text = "list of " + s.Items.describe()
	case len(s.Enum) > 0:
		text = s.choices()
	case s.Format == "uuid" || s.Format == "date-time":
		text = template.HTML(map[string]string{"uuid": "UUID", "date-time": "time, RFC 3339"}[s.Format])
	}
	if slices.Contains(s.Type, "null") {
		text += " or null"
	}
	if limits := s.limits(); limits != "" {
		text += template.HTML(", " + template.HTMLEscapeString(limits))
	}
	return text
}

func (s schema) choices() template.HTML {
	words := make([]string, len(s.Enum))
	for i, value := range s.Enum {
		words[i] = "<code>" + template.HTMLEscapeString(fmt.Sprint(value)) + "</code>"
	}
	return template.HTML(strings.Join(words, " "))
}

func (s schema) limits() string {
	var limits []string
	add := func(text string) {
		if text != "" {
			limits = append(limits, text)
		}
	}
	add(between(s.Minimum, s.Maximum, ""))
	add(between(s.MinLength, s.MaxLength, " characters"))
	add(between(s.MinItems, s.MaxItems, " items"))
	if s.Default != nil {
		add(fmt.Sprintf("default %v", s.Default))
	}
	return strings.Join(limits, ", ")
}

func between[N int | int64](least, most *N, unit string) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf("%d to %d%s", *least, *most, unit)
	case least != nil:
		return fmt.Sprintf("at least %d%s", *least, unit)
	case most != nil:
		return fmt.Sprintf("at most %d%s", *most, unit)
	}
	return ""
}
