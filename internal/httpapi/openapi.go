package httpapi

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"
)

type document struct{ yaml, json []byte }

// OpenAPI returns the document of everything registered so far, as YAML and as JSON. Equal registrations give equal
// bytes, so that the committed copy can be compared. The first call fixes the answer.
func (a *API) OpenAPI() (asYAML, asJSON []byte) {
	d := a.document()
	return d.yaml, d.json
}

func render(api *huma.OpenAPI) document {
	d, err := tryRender(api)
	if err != nil {
		panic(fmt.Errorf("render OpenAPI: %w", err)) // a type without a schema: a fault of the program
	}
	return d
}

func tryRender(api *huma.OpenAPI) (d document, err error) {
	made, err := api.MarshalJSON()
	if err != nil {
		return d, err
	}
	if d.json, err = publish(made); err != nil {
		return d, err
	}
	var text bytes.Buffer
	err = yaml.Convert(&text, bytes.NewReader(d.json))
	d.yaml = text.Bytes()
	return d, err
}

func (a *API) serveJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openapi+json")
	w.Write(a.document().json)
}

func (a *API) serveYAML(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openapi+yaml")
	w.Write(a.document().yaml)
}
