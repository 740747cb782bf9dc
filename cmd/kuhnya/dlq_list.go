package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
)

type dlqListCmd struct {
	dlqFlags
	Service string `placeholder:"NAME" help:"Only those of one service."`
	State   string `enum:"open,redriven,discarded,all" default:"open" help:"open, redriven, discarded or all (${default})."`
	JSON    bool   `name:"json" help:"Print them as JSON."`
}

// dlqList is what the command prints as JSON.
type dlqList struct {
	Items    []opshttp.DeadLetter `json:"items"`
	Services []string             `json:"services"` // that were asked
}

// Run prints a table, and how many there are.
func (c *dlqListCmd) Run(ctx context.Context, stdout io.Writer) error {
	d, err := c.open(ctx, c.Service)
	if err != nil {
		return err
	}
	letters, err := d.letters(ctx, c.state())
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(stdout, dlqList{letters, d.names()})
	}
	if err := c.table(stdout, letters); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s; %s\n", c.counts(letters), d.asked())
	return err
}

// state is the state as the API has it, "" for all.
func (c *dlqListCmd) state() ops.State {
	if c.State == "all" {
		return ""
	}
	return ops.State(c.State)
}

func (c *dlqListCmd) table(w io.Writer, letters []opshttp.DeadLetter) error {
	if len(letters) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSERVICE\tSTATE\tTOPIC/PARTITION/OFFSET\tCODE\tATTEMPTS\tREDRIVES\tFAILED AT\tORDER")
	for _, l := range letters {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", l.ID, l.Service, l.State, record(l), l.ErrorCode, l.Attempts,
			l.RedriveCount, instant(l.FailedAt), orderOf(l))
	}
	return table.Flush()
}

func orderOf(l opshttp.DeadLetter) string {
	if l.OrderID == nil {
		return "-"
	}
	return l.OrderID.String()
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// counts says how many there are of each state that was asked for.
func (c *dlqListCmd) counts(letters []opshttp.DeadLetter) string {
	n := map[ops.State]int{}
	for _, l := range letters {
		n[l.State]++
	}
	var parts []string
	for _, state := range []ops.State{ops.Open, ops.Redriven, ops.Discarded} {
		if slices.Contains([]ops.State{"", state}, c.state()) {
			parts = append(parts, fmt.Sprintf("%d %s", n[state], state))
		}
	}
	return strings.Join(parts, ", ")
}

// printJSON prints a value as the API would answer with it.
func printJSON(w io.Writer, v any) error {
	encoded, err := httpapi.Encode(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(encoded, '\n'))
	return err
}
