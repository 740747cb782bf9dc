package main

import (
	"context"
	"io"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
)

type dlqDiscardCmd struct {
	dlqFlags
	IDs    []httpapi.ID `arg:"" name:"id" help:"Ids of dead letters."`
	Reason string       `required:"" placeholder:"TEXT" help:"Why they are given up, for those who come after: 1 to 500 characters."`
}

// Run gives dead letters up, one after the other.
func (c *dlqDiscardCmd) Run(ctx context.Context, stdout io.Writer) error {
	d, err := c.open(ctx, "")
	if err != nil {
		return err
	}
	r := round{desk: d, out: stdout, deed: deed{
		done: "discarded", already: "discarded before", not: "not discarded", state: ops.Discarded,
		do: func(ctx context.Context, l opshttp.DeadLetter) error {
			_, err := d.service(l.Service).Discard(ctx, l.ID, c.Reason)
			return err
		},
	}}
	if err := r.choose(ctx, c.IDs); err != nil {
		return err
	}
	return r.run(ctx)
}
