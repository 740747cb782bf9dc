package opshttp

import (
	"time"

	"kuhnya/internal/audit"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
)

// DeadLetter is a record that the service gave up, as lists show it.
type DeadLetter struct {
	ID           httpapi.ID  `json:"id"`
	Service      string      `json:"service"`
	Group        string      `json:"group" doc:"The consumer group that gave it up, and that it is sent again for."`
	Topic        string      `json:"topic"`
	Partition    int32       `json:"partition"`
	Offset       int64       `json:"offset"`
	State        ops.State   `json:"state" enum:"open,redriven,discarded"`
	Reason       string      `json:"reason" doc:"Why it was discarded."`
	ErrorCode    string      `json:"error_code" doc:"Why it was given up, for programs."`
	ErrorMessage string      `json:"error_message" doc:"The same for people."`
	Attempts     int         `json:"attempts" doc:"Failed tries before it was given up."`
	RedriveCount int         `json:"redrive_count" doc:"How often the record had been sent again before it failed this time."`
	FailedAt     time.Time   `json:"failed_at"`
	OrderID      *httpapi.ID `json:"order_id,omitempty" doc:"The record's key, if it is a UUID: the order that it is about."`
	Key          Bytes       `json:"key" doc:"The record's key; of a longer one a list has the first 256 bytes."`
	KeyBytes     int64       `json:"key_bytes" doc:"Size of the record's key; 0 as well if it has none."`
	ValueBytes   int64       `json:"value_bytes" doc:"Size of the record's value; 0 as well if it has none."`
}

// WholeDeadLetter is a dead letter with all of its record.
type WholeDeadLetter struct {
	DeadLetter
	Value   Bytes          `json:"value"`
	Headers []RecordHeader `json:"headers" doc:"The record's own, in their order; a name may come twice."`
}

// RecordHeader is a header of a record. Its name may be any bytes as well.
type RecordHeader struct {
	Name  Bytes `json:"name"`
	Value Bytes `json:"value"`
}

func (s Service) show(l ops.Summary) DeadLetter {
	shown := DeadLetter{
		ID: httpapi.ID(l.ID), Service: s.Name, Group: l.Group, Topic: l.Topic, Partition: l.Partition, Offset: l.Offset,
		State: l.State, Reason: l.Reason, ErrorCode: l.ErrorCode, ErrorMessage: l.ErrorMessage, Attempts: l.Attempts,
		RedriveCount: l.RedriveCount, FailedAt: l.FailedAt, Key: l.Key, KeyBytes: l.KeyBytes, ValueBytes: l.ValueBytes,
	}
	var id httpapi.ID
	if id.UnmarshalText(l.Key) == nil {
		shown.OrderID = &id
	}
	return shown
}

func (s Service) showWhole(l ops.DeadLetter) WholeDeadLetter {
	headers := make([]RecordHeader, len(l.Headers))
	for i, h := range l.Headers {
		headers[i] = RecordHeader{Name: Bytes(h.Key), Value: h.Value}
	}
	whole := WholeDeadLetter{DeadLetter: s.show(l.Summarize()), Value: l.Value, Headers: headers}
	whole.Key = l.Key
	return whole
}

// Overview is [ops.Overview] as operators see it.
type Overview struct {
	Service      string           `json:"service"`
	At           time.Time        `json:"at"`
	Outbox       OutboxDepth      `json:"outbox"`
	UnsentSteps  int64            `json:"unsent_steps" doc:"Steps of tickets that were not told to kitchen yet; 0 elsewhere."`
	Reading      []Reading        `json:"reading" doc:"How far the service has come in each partition that it reads."`
	ReadingError string           `json:"reading_error" doc:"Why reading and lag are not known; empty if they are."`
	Lag          *int64           `json:"lag" nullable:"true" doc:"Records that the service has not dealt with yet; null: not known."`
	DeadLetters  DeadLetterCounts `json:"dead_letters"`
	StuckOrders  int64            `json:"stuck_orders" doc:"Placed orders whose accept_deadline is past; 0 elsewhere than in kitchen."`
}

// OutboxDepth is what waits in an outbox.
type OutboxDepth struct {
	Waiting          int64   `json:"waiting"`
	OldestAgeSeconds float64 `json:"oldest_age_seconds" doc:"Age of the row that waits longest; 0 if none does."`
	Parked           int64   `json:"parked" doc:"Rows that could not be published and wait for a person."`
}

// Reading is how far a service has come in one partition.
type Reading struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	End       int64  `json:"end" doc:"Offset that the next record gets."`
	Committed int64  `json:"committed" doc:"Offset that the service reads next."`
	Lag       int64  `json:"lag"`
}

// DeadLetterCounts counts dead letters by their state.
type DeadLetterCounts struct {
	Open      int64 `json:"open"`
	Redriven  int64 `json:"redriven"`
	Discarded int64 `json:"discarded"`
}

func showOverview(o ops.Overview) Overview {
	shown := Overview{
		Service: o.Service, At: o.At, UnsentSteps: o.UnsentSteps, StuckOrders: o.StuckOrders, DeadLetters: DeadLetterCounts(o.DeadLetters),
		Outbox:       OutboxDepth{Waiting: o.Outbox.Waiting, OldestAgeSeconds: o.Outbox.OldestAge.Seconds(), Parked: o.Outbox.Parked},
		ReadingError: o.ReadingError,
	}
	if o.ReadingError != "" {
		return shown
	}
	shown.Lag = new(int64)
	for _, r := range o.Reading {
		shown.Reading = append(shown.Reading, Reading{r.Topic, r.Partition, r.End, r.Committed, r.Lag()})
		*shown.Lag += r.Lag()
	}
	return shown
}

// Audit is what a service found out about itself.
type Audit struct {
	Service    string            `json:"service"`
	At         time.Time         `json:"at"`
	Violations []audit.Violation `json:"violations" doc:"Broken promises, by the numbers that docs/MECHANISMS.md has for them."`
	More       int               `json:"more" doc:"Violations beyond those listed."`
	Parked     []audit.Parked    `json:"parked" doc:"Outbox rows that could not be published."`
}
