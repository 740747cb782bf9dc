package opshttp

import (
	"context"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

var errNoDeadLetter = fault.New(fault.NotFound, "no such dead letter")

func (s Service) getDeadLetter(api *httpapi.API) {
	op := s.get("dead-letter", deadLetter)
	op.Summary = "Get a dead letter with all of its record"
	httpapi.Register(api, op, func(ctx context.Context, in *DeadLetterPath) (*httpapi.Answer[WholeDeadLetter], error) {
		letter, found, err := s.Store.DeadLetter(ctx, in.ID.UUID())
		if err == nil && !found {
			err = errNoDeadLetter
		}
		return httpapi.OK(s.showWhole(letter)), err
	})
}
