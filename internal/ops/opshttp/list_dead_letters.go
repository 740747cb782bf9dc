package opshttp

import (
	"context"
	"net/http"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
)

type listDeadLetters struct {
	State ops.State `query:"state" enum:"open,redriven,discarded"`
	httpapi.Page
}

func (s Service) listDeadLetters(api *httpapi.API) {
	op := s.operation("list-"+s.Name+"-dead-letters", http.MethodGet, deadLetters)
	op.Summary = "List dead letters, oldest first, without their values and headers"
	httpapi.Register(api, op, func(ctx context.Context, in *listDeadLetters) (*httpapi.Answer[httpapi.List[DeadLetter]], error) {
		after, _, err := httpapi.DecodeCursor[httpapi.ID](in.Cursor)
		if err != nil {
			return nil, err
		}
		letters, err := s.Store.DeadLetters(ctx, in.State, after.UUID(), in.Limit+1)
		if err != nil {
			return nil, err
		}
		list, err := httpapi.ListOf(in.Page, letters, s.show, func(l ops.Summary) httpapi.ID { return httpapi.ID(l.ID) })
		return httpapi.OK(list), err
	})
}
