package opshttp

import (
	"context"
	"net/http"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

type discardDeadLetter struct {
	DeadLetterPath
	Body struct {
		Reason string `json:"reason" minLength:"1" maxLength:"500"`
	}
}

func (s Service) discardDeadLetter(api *httpapi.API) {
	op := s.operation("discard-"+s.Name+"-dead-letter", http.MethodPost, deadLetter+"/discard")
	op.Summary = "Give a dead letter up"
	op.Description = "Safe to repeat: a discarded dead letter keeps its first reason."
	op.Codes = []fault.Code{fault.InvalidTransition}
	httpapi.Register(api, op, func(ctx context.Context, in *discardDeadLetter) (*httpapi.Answer[DeadLetter], error) {
		letter, err := s.DeadLetters.Discard(ctx, in.ID.UUID(), in.Body.Reason)
		return httpapi.OK(s.show(letter.Summarize())), err
	})
}
