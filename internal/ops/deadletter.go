// Package ops is what people who run the product do to it, the same for every service: look at dead letters, send them
// again, give them up.
//
// Redriving is safe to repeat: the change of state and the outbox row that carries the record out are one transaction,
// so a record is sent once however often it is asked for, and its own idempotency key makes its effect happen once.
package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"kuhnya/consume"
	"kuhnya/internal/event"
	"kuhnya/internal/fault"
	"kuhnya/outbox"
)

// State is what became of a dead letter.
type State string

// The states of a dead letter. Redriven and Discarded are final: a redriven record that fails again is a new one.
const (
	Open      State = "open"
	Redriven  State = "redriven"
	Discarded State = "discarded"
)

// MaxRedrives is how often a record may be sent again before only discarding it is left.
const MaxRedrives = 5

// MaxReason is the longest reason for discarding a dead letter, in characters.
const MaxReason = 500

// DeadLetter is a record that its consumer gave up, under the id by which people refer to it.
type DeadLetter struct {
	consume.DeadLetter
	ID     uuid.UUID
	State  State
	Reason string // why it was discarded
}

// Summary is a dead letter as a list has it: without its value and headers, which may be large.
type Summary struct {
	DeadLetter
	KeyBytes   int64 // size of the key, of which no more than [MaxListedKey] bytes are there
	ValueBytes int64 // size of the value; 0 as well if there is none
}

// MaxListedKey is how much of a key a list has, in bytes: keys of strangers may be as large as records.
const MaxListedKey = 256

// Summarize leaves out what may be large.
func (d DeadLetter) Summarize() Summary {
	s := Summary{KeyBytes: int64(len(d.Key)), ValueBytes: int64(len(d.Value))}
	if len(d.Key) > MaxListedKey {
		d.Key = d.Key[:MaxListedKey]
	}
	d.Value, d.Headers = nil, nil
	s.DeadLetter = d
	return s
}

// DeadLetterStore is the table of dead letters that a service has. It holds no rules.
type DeadLetterStore interface {
	DeadLetter(ctx context.Context, id uuid.UUID) (DeadLetter, bool, error)
	// DeadLetters returns up to limit dead letters by id after the given one; an empty state selects all.
	DeadLetters(ctx context.Context, state State, after uuid.UUID, limit int) ([]Summary, error)
	// CountDeadLetters counts all dead letters by their state.
	CountDeadLetters(ctx context.Context) (DeadLetterCounts, error)
	WriteDeadLetter(ctx context.Context, f func(DeadLetterTx) error) error
}

// DeadLetterTx is one write transaction over dead letters and outbox.
type DeadLetterTx interface {
	// LockDeadLetter locks the row until the transaction ends.
	LockDeadLetter(id uuid.UUID) (DeadLetter, bool, error)
	SetState(id uuid.UUID, state State, reason string) error
	AppendOutbox(messages []outbox.Message) error
}

// DeadLetters decides about the dead letters of one service.
type DeadLetters struct {
	store DeadLetterStore
	wake  func() // tells the outbox relay that there is something to send
	log   *slog.Logger
}

// NewDeadLetters returns the rules over a store. They log nothing.
func NewDeadLetters(store DeadLetterStore, wake func()) *DeadLetters {
	return &DeadLetters{store, wake, slog.New(slog.DiscardHandler)}
}

// LogTo makes the rules tell a log what was done to dead letters, and returns them.
func (d *DeadLetters) LogTo(log *slog.Logger) *DeadLetters {
	d.log = log
	return d
}

// Redrivable returns why a dead letter can't be sent again, nil if it can be or was.
func Redrivable(state State, redrives int) error {
	switch {
	case state == Discarded:
		return fault.New(fault.DeadLetterDiscarded, "this dead letter was discarded")
	case state == Open && redrives >= MaxRedrives:
		return fault.New(fault.RedriveLimit, "this record was sent again %d times already", redrives)
	}
	return nil
}

// Redrive sends the record of a dead letter to its topic again, for the group that gave it up only. A dead letter that
// was redriven before stays as it is.
func (d *DeadLetters) Redrive(ctx context.Context, id uuid.UUID) (DeadLetter, error) {
	letter, err := d.change(ctx, id, func(tx DeadLetterTx, letter *DeadLetter) error {
		if err := Redrivable(letter.State, letter.RedriveCount); err != nil || letter.State == Redriven {
			return err
		}
		if err := tx.AppendOutbox([]outbox.Message{again(*letter)}); err != nil {
			return refuseTooLarge(fmt.Errorf("append to the outbox: %w", err))
		}
		letter.State = Redriven
		return tx.SetState(id, Redriven, "")
	})
	if err == nil {
		d.wake()
	}
	return letter, err
}

// refuseTooLarge: a record that fills the broker's limit has no room for the headers of a redrive.
func refuseTooLarge(err error) error {
	if errors.Is(err, outbox.ErrTooLarge) {
		return fault.New(fault.PayloadTooLarge, "this record is too large to be sent again").Because(err)
	}
	return err
}

// again is the record as it was, addressed to the group that gave it up.
func again(letter DeadLetter) outbox.Message {
	m := outbox.Message{EventID: uuid.Must(uuid.NewV7()), Topic: letter.Topic, Key: string(letter.Key), Payload: letter.Value}
	for _, h := range letter.RedriveHeaders() {
		m.Headers = append(m.Headers, outbox.Header(h))
	}
	return m
}

// Discard gives an open dead letter up, with a reason. Discarding it again keeps the first reason.
func (d *DeadLetters) Discard(ctx context.Context, id uuid.UUID, reason string) (DeadLetter, error) {
	if strings.TrimSpace(reason) == "" || utf8.RuneCountInString(reason) > MaxReason {
		return DeadLetter{}, fault.Invalid("/reason", "must have 1 to %d characters, not only blanks", MaxReason)
	}
	return d.change(ctx, id, func(tx DeadLetterTx, letter *DeadLetter) error {
		switch letter.State {
		case Discarded:
			return nil
		case Redriven:
			return fault.New(fault.InvalidTransition, "this dead letter was sent again; if it fails again, discard the new one").
				With("current", letter.State).With("allowed", []State{})
		}
		letter.State, letter.Reason = Discarded, reason
		return tx.SetState(id, Discarded, reason)
	})
}

func (d *DeadLetters) change(ctx context.Context, id uuid.UUID, f func(DeadLetterTx, *DeadLetter) error) (letter DeadLetter, err error) {
	var before State
	err = d.store.WriteDeadLetter(ctx, func(tx DeadLetterTx) error {
		found := false
		if letter, found, err = tx.LockDeadLetter(id); err != nil {
			return fmt.Errorf("lock dead letter: %w", err)
		}
		if !found {
			return fault.New(fault.NotFound, "no such dead letter")
		}
		before = letter.State
		return f(tx, &letter)
	})
	if err == nil && letter.State != before {
		d.tell(ctx, letter)
	}
	return letter, err
}

var told = map[State]string{Redriven: "dead letter redriven", Discarded: "dead letter discarded"}

// tell writes what became of a dead letter. The line belongs to the trace of the request that asked for it, not to that
// of the record. A reason is what a person wrote, and stays out.
func (d *DeadLetters) tell(ctx context.Context, letter DeadLetter) {
	attrs := []slog.Attr{
		slog.Any("dead_letter_id", letter.ID), slog.String("group", letter.Group), slog.String("topic", letter.Topic),
		slog.Int("partition", int(letter.Partition)), slog.Int64("offset", letter.Offset),
	}
	about := event.Describe(outbox.Message{Key: string(letter.Key)})
	d.log.LogAttrs(ctx, slog.LevelInfo, told[letter.State], append(attrs, about...)...)
}
