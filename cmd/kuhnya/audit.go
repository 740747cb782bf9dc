package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kuhnya/internal/app"
	"kuhnya/internal/audit"
	"kuhnya/internal/opsclient"
)

type auditCmd struct {
	dataFlag
	topicFlag
	clientFlags
	AtRest       bool     `help:"Also compare the services with each other, which needs everything sent and read."`
	JSON         bool     `name:"json" help:"Print the report as JSON."`
	KafkaBrokers []string `placeholder:"HOST:PORT" help:"Brokers to ask how far consumers have read. The default is the broker folder or, if a process has it, that process, at --url."`
}

// auditReport is what the command prints.
type auditReport struct {
	Databases  []string          `json:"databases"` // that were checked
	Violations []audit.Violation `json:"violations"`
	Parked     []audit.Parked    `json:"parked"`
	AtRest     *bool             `json:"at_rest"` // nil: not asked for, or not learnt
	Detail     string            `json:"detail"`  // why the services weren't compared
}

// Run checks, prints what it found, and fails if there was anything.
func (c *auditCmd) Run(ctx context.Context, stdout io.Writer) error {
	auditor := &app.Auditor{
		Data: c.Data, KafkaBrokers: c.KafkaBrokers, Topics: c.topics(),
		Client: func() (*opsclient.Client, error) { return c.client(c.Data) },
	}
	var needed []string
	if c.AtRest {
		needed = app.Services
		if _, err := opsclient.New(c.URL, c.Token); err != nil { // wrong even if nobody needs to be asked
			return setup(fmt.Errorf("--url: %w", err))
		}
	}
	if err := auditor.Open(needed...); err != nil {
		return setup(err)
	}
	defer auditor.Close() //nolint:errcheck // nothing was written
	report, err := c.audit(ctx, auditor)
	if err != nil {
		return setup(err)
	}
	restErr := c.compare(ctx, auditor, &report)
	if err := c.print(stdout, report); err != nil {
		return err
	}
	switch {
	case len(report.Violations) > 0:
		return exitError{exitFailed, fmt.Errorf("%d violations", len(report.Violations))}
	case errors.Is(restErr, app.ErrNotAtRest):
		return exitError{exitNotAtRest, restErr}
	}
	return setup(restErr)
}

// audit checks what can be checked at every moment.
func (c *auditCmd) audit(ctx context.Context, auditor *app.Auditor) (r auditReport, err error) {
	r = auditReport{Databases: auditor.Databases(), Violations: []audit.Violation{}, Parked: []audit.Parked{}}
	violations, err := auditor.Live(ctx)
	if err != nil {
		return r, err
	}
	parked, err := auditor.Parked(ctx)
	r.Violations, r.Parked = append(r.Violations, violations...), append(r.Parked, parked...)
	return r, err
}

// compare adds to the report what can be checked at rest, if that was asked for, or why it could not be.
func (c *auditCmd) compare(ctx context.Context, auditor *app.Auditor, r *auditReport) error {
	if !c.AtRest {
		return nil
	}
	violations, err := auditor.AtRest(ctx)
	switch {
	case err == nil:
		r.AtRest, r.Violations = new(true), append(r.Violations, violations...)
	case errors.Is(err, app.ErrNotAtRest):
		r.AtRest, r.Detail = new(false), oneLine(err)
	default:
		r.Detail = oneLine(err)
	}
	return err
}

func (c *auditCmd) print(w io.Writer, r auditReport) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	var text strings.Builder
	for _, v := range r.Violations {
		fmt.Fprintln(&text, v)
	}
	for _, p := range r.Parked {
		fmt.Fprintln(&text, printable(p.String(), ""))
	}
	fmt.Fprintln(&text, r.summary())
	_, err := io.WriteString(w, text.String())
	return err
}

// summary is the last line of the text: what was looked at, and what was found.
func (r auditReport) summary() string {
	found := "no violations"
	if n := len(r.Violations); n > 0 {
		found = fmt.Sprintf("%d violations", n)
	}
	compared := ""
	switch {
	case r.AtRest != nil && *r.AtRest:
		compared = ", services compared"
	case r.Detail != "":
		compared = ", services not compared"
	}
	return found + "; checked " + strings.Join(r.Databases, ", ") + compared
}
