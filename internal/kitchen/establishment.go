package kitchen

import (
	"context"
	"strings"
	"time"
	_ "time/tzdata" // zones must be known on machines without a zone database
	"unicode/utf8"

	"github.com/google/uuid"

	"kuhnya/internal/fault"
	"kuhnya/internal/money"
)

// State says whether an establishment takes orders.
type State string

// The states of an establishment. A busy one still takes orders and says that it will be slow.
const (
	Open   State = "open"
	Busy   State = "busy"
	Closed State = "closed"
)

// Limits of an establishment's settings.
const (
	DefaultAcceptTimeout = 10 * time.Minute
	MaxAcceptTimeout     = 24 * time.Hour
	MaxName              = 200 // characters, of establishments and dishes
)

// Establishment is a place that cooks.
type Establishment struct {
	ID            uuid.UUID
	Name          string
	State         State
	MinOrder      int64         // minor units; an order below it is refused
	AcceptTimeout time.Duration // whole seconds from placing until an order is rejected unless accepted
	Timezone      string        // IANA name
	Currency      string        // ISO 4217, of all its prices
}

// Accepting says whether orders are taken.
func (e Establishment) Accepting() bool { return e.State != Closed }

// PutEstablishment creates or replaces an establishment under the id that its client made. created is false if it
// existed before.
func (s *Service) PutEstablishment(ctx context.Context, e Establishment) (saved Establishment, created bool, err error) {
	if err := e.check(); err != nil {
		return Establishment{}, false, err
	}
	err = s.write(ctx, func(tx Tx) error {
		known, err := tx.Establishments([]uuid.UUID{e.ID})
		if err != nil {
			return err
		}
		before, exists := known[e.ID]
		if exists && before.Currency != e.Currency {
			return fault.Invalid("/currency", "the currency of an establishment can't change")
		}
		created = !exists
		return tx.PutEstablishment(e)
	})
	return e, created, err
}

// EstablishmentPatch changes the members that are not nil.
type EstablishmentPatch struct {
	State         *State
	Accepting     *bool // instead of State: true opens what is closed, false closes
	MinOrder      *int64
	AcceptTimeout *time.Duration
}

// PatchEstablishment changes the settings that staff may change.
func (s *Service) PatchEstablishment(ctx context.Context, id uuid.UUID, p EstablishmentPatch) (e Establishment, err error) {
	if p.State != nil && p.Accepting != nil {
		return e, fault.Invalid("/accepting", "can't be sent together with state")
	}
	err = s.write(ctx, func(tx Tx) error {
		known, err := tx.Establishments([]uuid.UUID{id})
		if err != nil {
			return err
		}
		var exists bool
		if e, exists = known[id]; !exists {
			return fault.New(fault.NotFound, "no such establishment")
		}
		e.State = or(p.State, e.State)
		e.State = accepting(p.Accepting, e.State)
		e.MinOrder = or(p.MinOrder, e.MinOrder)
		e.AcceptTimeout = or(p.AcceptTimeout, e.AcceptTimeout)
		if err := e.check(); err != nil {
			return err
		}
		return tx.PutEstablishment(e)
	})
	return e, err
}

func (e Establishment) check() error {
	switch {
	case e.ID == uuid.Nil:
		return fault.Invalid("", "the nil UUID is no id of an establishment")
	case !named(e.Name):
		return fault.Invalid("/name", "must have 1 to %d characters, not only blanks", MaxName)
	case e.State != Open && e.State != Busy && e.State != Closed:
		return fault.Invalid("/state", "must be open, busy or closed")
	case e.MinOrder < 0:
		return fault.Invalid("/min_order/amount", "must not be negative")
	case e.AcceptTimeout < time.Second || e.AcceptTimeout > MaxAcceptTimeout:
		return fault.Invalid("/accept_timeout_seconds", "must be 1 to %d", int(MaxAcceptTimeout.Seconds()))
	case !money.IsCurrency(e.Currency):
		return fault.Invalid("/currency", "must be an ISO 4217 code, three capital letters")
	}
	if _, err := time.LoadLocation(e.Timezone); err != nil || e.Timezone == "" || e.Timezone == "Local" {
		return fault.Invalid("/timezone", "must be an IANA time zone such as Europe/Moscow")
	}
	return nil
}

// accepting leaves a busy establishment busy when it is to accept: it does already.
func accepting(wanted *bool, now State) State {
	switch {
	case wanted == nil || *wanted && now != Closed:
		return now
	case *wanted:
		return Open
	}
	return Closed
}

func named(name string) bool {
	return strings.TrimSpace(name) != "" && utf8.RuneCountInString(name) <= MaxName
}

func or[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}
