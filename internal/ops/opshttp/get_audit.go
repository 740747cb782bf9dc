package opshttp

import (
	"context"
	"time"

	"kuhnya/internal/audit"
	"kuhnya/internal/httpapi"
)

func (s Service) getAudit(api *httpapi.API) {
	op := s.get("audit", "/audit")
	op.Summary = "Check the invariants that hold in the service's own database at every moment"
	op.Description = "Reads the whole database. What ties services together is compared by the command kuhnya audit."
	httpapi.Register(api, op, func(ctx context.Context, _ *struct{}) (*httpapi.Answer[Audit], error) {
		result, err := s.audit(ctx)
		return httpapi.OK(result), err
	})
}

func (s Service) audit(ctx context.Context) (result Audit, err error) {
	result = Audit{Service: s.Name, At: time.Now(), Violations: []audit.Violation{}}
	if s.Violations != nil {
		if result.Violations, err = s.Violations(ctx); err != nil {
			return result, err
		}
	}
	result.Parked, err = s.Parked(ctx)
	return result, err
}
