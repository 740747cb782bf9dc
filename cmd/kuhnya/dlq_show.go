package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops/opshttp"
)

type dlqShowCmd struct {
	dlqFlags
	ID   httpapi.ID `arg:"" name:"id" help:"Id of the dead letter."`
	JSON bool       `name:"json" help:"Print it as JSON."`
}

// Run prints one dead letter of whichever service has it.
func (c *dlqShowCmd) Run(ctx context.Context, stdout io.Writer) error {
	d, err := c.open(ctx, "")
	if err != nil {
		return err
	}
	letter, found, err := d.locate(ctx, c.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("no dead letter %s; %s", c.ID, d.asked())
	case c.JSON:
		return printJSON(stdout, letter)
	}
	_, err = io.WriteString(stdout, describe(letter))
	return err
}

func describe(l opshttp.WholeDeadLetter) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(name, value string) { fmt.Fprintf(table, "%s\t%s\n", name, value) }
	line("id", l.ID.String())
	line("service", l.Service)
	line("state", string(l.State))
	if l.Reason != "" {
		line("reason", printable(l.Reason, ""))
	}
	line("record", record(l.DeadLetter))
	line("code", l.ErrorCode)
	line("error", printable(l.ErrorMessage, ""))
	line("attempts", fmt.Sprint(l.Attempts))
	line("redrives", fmt.Sprint(l.RedriveCount))
	line("failed at", instant(l.FailedAt))
	line("order", orderOf(l.DeadLetter))
	line("key", showBytes(l.Key))
	for _, h := range l.Headers {
		line("header", showBytes(h.Name)+": "+showBytes(h.Value))
	}
	line("value", fmt.Sprintf("%d bytes", l.ValueBytes))
	table.Flush() //nolint:errcheck // a strings.Builder takes everything
	return text.String() + showValue(l.Value) + "\n"
}
