// Package opshttp is what operators ask of a service and do to it, over HTTP: one file per endpoint, the shapes of its
// bodies in shapes.go. Each service registers for itself, under its own name: a process that does not run a service
// answers 404 for it.
package opshttp

import (
	"context"
	"net/http"

	"kuhnya/internal/audit"
	"kuhnya/internal/auth"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
)

// Service is one service as its operators know it.
type Service struct {
	Name        string // the part of the paths
	DeadLetters *ops.DeadLetters
	Store       ops.DeadLetterStore // of the same dead letters
	Inspect     ops.Inspect
	// Violations checks the service's own invariants in one snapshot, under live traffic; nil if it has none of its own.
	Violations func(context.Context) ([]audit.Violation, error)
	// Parked lists the outbox rows that could not be published.
	Parked func(context.Context) ([]audit.Parked, error)
}

// Register adds the endpoints of a service to an API.
func Register(api *httpapi.API, s Service) {
	s.listDeadLetters(api)
	s.getDeadLetter(api)
	s.redriveDeadLetter(api)
	s.discardDeadLetter(api)
	s.getOverview(api)
	s.getAudit(api)
}

// Paths after the service's name.
const (
	deadLetters = "/dead-letters"
	deadLetter  = deadLetters + "/{id}"
)

// DeadLetterPath is the part of an input that names a dead letter. It is exported because only then are embedded fields
// read.
type DeadLetterPath struct {
	ID httpapi.ID `path:"id" doc:"The dead letter's id."`
}

// operation is what all of them have in common: only operators may. path follows the service's name.
func (s Service) operation(id, method, path string) httpapi.Operation {
	return httpapi.Operation{
		ID: id, Method: method, Path: "/v1/" + s.Name + path, Tags: []string{"Operations"}, Access: httpapi.Only(auth.Operator),
	}
}

func (s Service) get(id, path string) httpapi.Operation {
	return s.operation("get-"+s.Name+"-"+id, http.MethodGet, path)
}
