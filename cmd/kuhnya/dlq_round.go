package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
	"kuhnya/internal/opsclient"
)

// deed is what is done to dead letters, in words and in fact.
type deed struct {
	done, already, not string
	state              ops.State // in which a dead letter has it behind it
	dry                bool
	do                 func(context.Context, opshttp.DeadLetter) error
}

// round does one thing to many dead letters, one after the other, and says what became of each.
type round struct {
	desk
	deed
	out     io.Writer
	letters []opshttp.DeadLetter

	unknown                    int             // ids that nobody has
	succeeded, before, refused int             // of the letters
	away                       map[string]bool // services that stopped answering
}

// choose finds dead letters by their ids, in the original order of their records.
func (r *round) choose(ctx context.Context, ids []httpapi.ID) error {
	seen := map[httpapi.ID]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		letter, found, err := r.locate(ctx, id)
		if err != nil {
			return err
		}
		if !found {
			r.unknown++
			fmt.Fprintf(r.out, "no dead letter %s; %s\n", id, r.asked())
			continue
		}
		r.letters = append(r.letters, letter.DeadLetter)
	}
	opsclient.InOriginalOrder(r.letters)
	return nil
}

// run stops between two dead letters when ctx ends. A refusal concerns one dead letter only. After any other error the
// rest of that service is left alone: a later record must not overtake one of its key that could not be sent.
func (r *round) run(ctx context.Context) error {
	r.away = map[string]bool{}
	for i, l := range r.letters {
		if ctx.Err() != nil {
			break
		}
		if !r.away[l.Service] {
			fmt.Fprintf(r.out, "%d/%d %s %s %s %s: %s\n", i+1, len(r.letters), l.ID, l.Service, record(l), l.ErrorCode, r.one(ctx, l))
		}
	}
	fmt.Fprintln(r.out, r.summary())
	return r.verdict(ctx)
}

// one deals with one dead letter and says in words what became of it.
func (r *round) one(ctx context.Context, l opshttp.DeadLetter) string {
	if l.State == r.state {
		r.before++
		return r.already
	}
	err := r.do(ctx, l)
	switch {
	case err == nil:
		r.succeeded++
		return r.done
	case aboutOne(err):
		r.refused++
		return r.not + ": " + err.Error()
	}
	r.away[l.Service] = true
	return r.not + ": " + oneLine(err) + "; leaving the rest of " + l.Service
}

// aboutOne says that an error is the rules' word about this one dead letter.
func aboutOne(err error) bool {
	var answered *opsclient.Refusal
	if errors.As(err, &answered) {
		return answered.Status == http.StatusConflict || answered.Status == http.StatusRequestEntityTooLarge
	}
	return fault.CodeOf(err) != ""
}

func (r *round) left() int { return len(r.letters) - r.succeeded - r.before - r.refused }

func (r *round) summary() string {
	parts := []string{fmt.Sprintf("%d %s", r.succeeded, r.done)}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.before, r.already)
	add(r.refused, r.not)
	add(r.left(), "left")
	add(r.unknown, "unknown")
	return strings.Join(parts, ", ") + "; " + r.asked()
}

// verdict is the error that ends the command, nil if all was done. That something would be refused is what a dry run was
// to find out.
func (r *round) verdict(ctx context.Context) error {
	if r.left() > 0 && ctx.Err() != nil {
		return fmt.Errorf("stopped after %d of %d; say it again to go on", len(r.letters)-r.left(), len(r.letters))
	}
	failed := r.left() + r.unknown
	if !r.dry {
		failed += r.refused
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d %s", failed, len(r.letters)+r.unknown, r.not)
	}
	return nil
}
