package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"kuhnya/internal/app"
	"kuhnya/internal/audit"
)

type auditCmd struct {
	dataFlag
	topicFlag
	AtRest       bool     `help:"Also compare the services with each other, which needs everything sent and read."`
	JSON         bool     `name:"json" help:"Print the report as JSON."`
	KafkaBrokers []string `placeholder:"HOST:PORT" help:"Brokers to ask how far consumers have read; the default is the broker folder, if it isn't in use."`
}

// Run checks, prints what it found, and fails if there was anything.
func (c *auditCmd) Run(ctx context.Context, stdout io.Writer) error {
	auditor := &app.Auditor{Data: c.Data, KafkaBrokers: c.KafkaBrokers, Topics: c.topics()}
	if err := auditor.Open(); err != nil {
		return setup(err)
	}
	defer auditor.Close() //nolint:errcheck // nothing was written
	violations, err := auditor.Live(ctx)
	if err == nil && c.AtRest {
		var found []audit.Violation
		found, err = auditor.AtRest(ctx)
		violations = append(violations, found...)
	}
	if reportErr := c.report(stdout, violations); reportErr != nil {
		return reportErr
	}
	switch {
	case len(violations) > 0:
		return exitError{exitFailed, fmt.Errorf("%d violations", len(violations))}
	case errors.Is(err, app.ErrNotAtRest):
		return exitError{exitNotAtRest, err}
	}
	return setup(err)
}

func (c *auditCmd) report(w io.Writer, violations []audit.Violation) error {
	if c.JSON {
		if violations == nil {
			violations = []audit.Violation{}
		}
		return json.NewEncoder(w).Encode(map[string]any{"violations": violations})
	}
	for _, v := range violations {
		if _, err := fmt.Fprintln(w, v); err != nil {
			return err
		}
	}
	return nil
}
