package httpapi

import (
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

type document struct{ yaml, json []byte }

// OpenAPI returns the document of everything registered so far, as YAML and as JSON. Equal registrations give equal
// bytes, so that the committed copy can be compared. The first call fixes the answer.
func (a *API) OpenAPI() (yaml, json []byte) {
	d := a.document()
	return d.yaml, d.json
}

func render(api *huma.OpenAPI) document {
	yaml, err := api.YAML()
	if err != nil {
		panic(fmt.Errorf("render OpenAPI: %w", err)) // a type without a schema: a fault of the program
	}
	json, err := api.MarshalJSON()
	if err != nil {
		panic(fmt.Errorf("render OpenAPI: %w", err))
	}
	return document{yaml: yaml, json: json}
}

func (a *API) serveJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openapi+json")
	w.Write(a.document().json)
}

func (a *API) serveYAML(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openapi+yaml")
	w.Write(a.document().yaml)
}
