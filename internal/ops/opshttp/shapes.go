package opshttp

import (
	"time"

	"kuhnya/internal/audit"
	"kuhnya/internal/ops"
)

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
	Parked     []audit.Parked    `json:"parked" doc:"Outbox rows that could not be published."`
}
