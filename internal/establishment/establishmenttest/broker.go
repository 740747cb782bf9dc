package establishmenttest

import (
	"context"
	"errors"
	"sync"

	"kuhnya/internal/event"
	"kuhnya/outbox"
)

// Record is a message that the broker keeps, as kitchen would read it.
type Record struct {
	event.EstablishmentStatus
	Topic     string
	RecordKey string
	Type      event.Type
	EventID   string
	Key       string
	Trace     string // traceparent
}

// Script says for each record whether the broker keeps it and what the sender hears. A nil one acknowledges everything.
type Script func(ctx context.Context, r Record) (kept bool, err error)

var errAway = errors.New("broker away")

// Broker is a scripted publisher. Without a script it acknowledges everything.
type Broker struct {
	mu      sync.Mutex
	script  Script
	records []Record
	tried   int
}

// Publish implements establishment.Publisher.
func (b *Broker) Publish(ctx context.Context, m outbox.Message) error {
	data, err := event.Decode[event.EstablishmentStatus](m.Payload)
	if err != nil {
		return err
	}
	envelope := event.Open(m.Headers)
	r := Record{data, m.Topic, m.Key, envelope.Type, envelope.ID, envelope.IdempotencyKey, envelope.TraceParent}
	kept := true
	if script := b.attempt(); script != nil {
		kept, err = script(ctx, r)
	}
	if kept {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.records = append(b.records, r)
	}
	return err
}

func (b *Broker) attempt() Script {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried++
	return b.script
}

// Play makes the broker follow a script.
func (b *Broker) Play(script Script) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script = script
}

// Away is the script of a broker that can't be reached.
func Away(context.Context, Record) (kept bool, err error) { return false, errAway }

// LostAnswer is the script of a broker that keeps records and whose answers are lost.
func LostAnswer(context.Context, Record) (kept bool, err error) { return true, errAway }

// Silent is the script of a broker that never answers.
func Silent(ctx context.Context, _ Record) (kept bool, err error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// Take returns the records that came since the last call.
func (b *Broker) Take() []Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	records := b.records
	b.records = nil
	return records
}

// Tried returns how often somebody published since the last call.
func (b *Broker) Tried() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	tried := b.tried
	b.tried = 0
	return tried
}
