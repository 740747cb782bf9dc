package ops

import (
	"context"
	"time"
)

// Overview is how a service is doing at a moment: what it has to send and to read, and what waits for a person.
type Overview struct {
	Service     string
	At          time.Time
	Outbox      OutboxDepth
	UnsentSteps int64 // of tickets; establishment only
	// Reading is how far the service's group has come in each partition that it reads; ReadingError is why that could
	// not be learnt, "" if it was. Without it nobody knows the lag.
	Reading      []Reading
	ReadingError string
	DeadLetters  DeadLetterCounts
	StuckOrders  int64 // placed, not accepted, and past their deadline; kitchen only
}

// OutboxDepth is what waits in an outbox.
type OutboxDepth struct {
	Waiting   int64
	OldestAge time.Duration // of the row that waits longest; 0 if none does
	Parked    int64         // rows that could not be published and wait for a person
}

// Reading is how far a group has come in one partition.
type Reading struct {
	Topic     string
	Partition int32
	End       int64 // offset that the next record gets
	Committed int64 // offset that the group reads next; the start of the log if it has committed none
}

// Lag is the number of records that the group has not committed.
func (r Reading) Lag() int64 { return max(0, r.End-r.Committed) }

// DeadLetterCounts counts dead letters by their state.
type DeadLetterCounts struct{ Open, Redriven, Discarded int64 }

// Inspect answers for one service. It fails only if the service's database can't be read.
type Inspect func(ctx context.Context) (Overview, error)
