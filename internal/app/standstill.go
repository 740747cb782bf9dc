package app

import (
	"fmt"
	"sync"
	"time"

	"kuhnya/consume"
	"kuhnya/internal/obs"
)

const (
	// standstillTime is how long a part may fail to move before users count as affected. Rebalances, failovers and
	// restarts of a broker are over by then.
	standstillTime = 30 * time.Second
	// watchTime is how long an answer of the broker says something about the time after it.
	watchTime = 10 * time.Second
	// watchInterval is how often the process looks by itself, well within that.
	watchInterval = 3 * time.Second
)

// answering is since when the broker has answered whenever somebody looked.
type answering struct {
	mu          sync.Mutex
	since, last time.Time
}

// learn takes an answer, or that there was none, and returns since when there have been answers: zero for none now. If
// nobody has looked for a while, nobody knows, and counting begins anew.
func (a *answering) learn(now time.Time, answers bool) (since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !answers:
		a.since = time.Time{}
	case a.since.IsZero(), now.Sub(a.last) > watchTime:
		a.since = now
	}
	a.last = now
	return a.since
}

// standstill judges what does not move. Time without a broker doesn't count.
type standstill struct {
	now      time.Time
	broker   time.Time // has answered since; zero if it doesn't
	patience time.Duration
}

// atFault says whether what stands still is this process's worry, and not the broker's.
func (s standstill) atFault() bool { return !s.broker.IsZero() }

func (s standstill) consumer(away time.Time, states []consume.PartitionState) (wrong string) {
	if wrong := s.judge(away, "is not let into its group"); wrong != "" {
		return wrong
	}
	return s.judge(obs.BlockedSince(states), "a record fails and holds its partition up")
}

func (s standstill) outbox(failing time.Time) (wrong string) {
	return s.judge(failing, "nothing can be published")
}

// judge says what is wrong if something has stood still since a moment, zero for not at all, for too long.
func (s standstill) judge(since time.Time, wrong string) string {
	switch {
	case since.IsZero():
		return ""
	case !s.atFault():
		return "waits for the broker"
	}
	if since.Before(s.broker) {
		since = s.broker
	}
	if s.now.Sub(since) < s.patience {
		return ""
	}
	return fmt.Sprintf("%s since %s", wrong, since.UTC().Format(time.RFC3339))
}
