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
	op.Description = "Reads the whole database. If that takes longer than a request may, the answer is 503 and the reading goes " +
		"on; who asks meanwhile gets its result. What ties services together is compared by the command kuhnya audit."
	httpapi.Register(api, op, func(ctx context.Context, _ *struct{}) (*httpapi.Answer[Audit], error) {
		result, err := s.audit(ctx)
		return httpapi.OK(result), err
	})
}

// maxViolations bounds the answer about a database that is broken as a whole.
const maxViolations = 1000

func (s Service) audit(ctx context.Context) (result Audit, err error) {
	result = Audit{Service: s.Name, At: time.Now(), Violations: []audit.Violation{}}
	if s.Violations != nil {
		if result.Violations, err = s.Violations(ctx); err != nil {
			return result, err
		}
	}
	listed := min(len(result.Violations), maxViolations)
	result.More, result.Violations = len(result.Violations)-listed, result.Violations[:listed]
	result.Parked, err = s.Parked(ctx)
	return result, err
}
