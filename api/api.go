// Package api holds the descriptions of the interfaces for programs. asyncapi.yaml is written by hand and served as it
// is; openapi.yaml is a copy of what the process makes of its operations, for whoever reads the source.
package api

import _ "embed"

// AsyncAPI is asyncapi.yaml: the events on Kafka, in AsyncAPI 3.0.
//
//go:embed asyncapi.yaml
var AsyncAPI []byte
