package opshttp

import (
	"context"
	"net/http"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

func (s Service) redriveDeadLetter(api *httpapi.API) {
	op := s.operation("redrive-"+s.Name+"-dead-letter", http.MethodPost, deadLetter+"/redrive")
	op.Summary = "Send the record to its topic again, for this service only"
	op.Description = "Safe to repeat: a dead letter that was sent again stays as it is. A record that fails again is a new dead letter."
	op.Codes = []fault.Code{fault.RedriveLimit, fault.DeadLetterDiscarded, fault.PayloadTooLarge}
	httpapi.Register(api, op, func(ctx context.Context, in *DeadLetterPath) (*httpapi.Answer[DeadLetter], error) {
		letter, err := s.DeadLetters.Redrive(ctx, in.ID.UUID())
		return httpapi.OK(s.show(letter.Summarize())), err
	})
}
