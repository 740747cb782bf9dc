package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
)

type dlqRedriveCmd struct {
	dlqFlags
	IDs     []httpapi.ID `arg:"" optional:"" name:"id" help:"Ids of dead letters."`
	All     bool         `help:"All open dead letters."`
	Service string       `placeholder:"NAME" help:"With --all: only those of one service."`
	Code    string       `placeholder:"CODE" help:"With --all: only those that failed with this code."`
	Max     *int         `placeholder:"N" help:"With --all: only the first so many."`
	DryRun  bool         `help:"Only say what would be done."`
}

func (c *dlqRedriveCmd) check() error {
	switch {
	case c.All == (len(c.IDs) > 0):
		return errors.New("name the ids of dead letters, or --all")
	case !c.All && (c.Service != "" || c.Code != "" || c.Max != nil):
		return errors.New("--service, --code and --max go with --all")
	case c.Max != nil && *c.Max < 1:
		return fmt.Errorf("--max %d: must be at least 1", *c.Max)
	}
	return nil
}

// Run sends records again, one after the other: those of a key must get into the outbox in their original order.
func (c *dlqRedriveCmd) Run(ctx context.Context, stdout io.Writer) error {
	if err := c.check(); err != nil {
		return setup(err)
	}
	d, err := c.open(ctx, c.Service)
	if err != nil {
		return err
	}
	r := round{desk: d, out: stdout, deed: sending(d, c.DryRun)}
	if c.All {
		r.letters, err = c.chosen(ctx, d)
	} else {
		err = r.choose(ctx, c.IDs)
	}
	if err != nil {
		return err
	}
	return r.run(ctx)
}

// chosen are the open dead letters that the flags select.
func (c *dlqRedriveCmd) chosen(ctx context.Context, d desk) ([]opshttp.DeadLetter, error) {
	letters, err := d.letters(ctx, ops.Open)
	if err != nil {
		return nil, err
	}
	letters = slices.DeleteFunc(letters, func(l opshttp.DeadLetter) bool { return c.Code != "" && l.ErrorCode != c.Code })
	if c.Max != nil {
		letters = letters[:min(len(letters), *c.Max)]
	}
	return letters, nil
}

func sending(d desk, dry bool) deed {
	if dry {
		return deed{done: "would be sent", already: "was sent before", not: "would not be sent", state: ops.Redriven, dry: true,
			do: func(_ context.Context, l opshttp.DeadLetter) error { return ops.Redrivable(l.State, l.RedriveCount) }}
	}
	return deed{done: "sent", already: "sent before", not: "not sent", state: ops.Redriven,
		do: func(ctx context.Context, l opshttp.DeadLetter) error {
			_, err := d.service(l.Service).Redrive(ctx, l.ID)
			return err
		}}
}
