// Package docs holds the documents that the process shows to whoever has only the process.
package docs

import _ "embed"

// Events is EVENTS.md: what is said on Kafka, in Markdown.
//
//go:embed EVENTS.md
var Events []byte
