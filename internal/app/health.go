package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// probeTimeout bounds an answer of /readyz, whatever hangs.
const probeTimeout = 2 * time.Second

const well = "ok"

// health is the body of /readyz: what works and what does not, by part.
type health struct {
	Ready  bool              `json:"ready"`
	Checks map[string]string `json:"checks"` // [well], or what is wrong in words that may leave the process
}

// tell notes a part. What is wrong with it ends readiness if users would notice.
func (h *health) tell(part, wrong string, noticed bool) {
	if wrong == "" {
		h.Checks[part] = well
		return
	}
	h.Checks[part] = wrong
	h.Ready = h.Ready && !noticed
}

func (a *App) handleHealth() {
	a.api.Handle("GET /healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n"))
	}))
	a.api.Handle("GET /readyz", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
		defer cancel()
		h := a.probe(ctx)
		w.Header().Set("Content-Type", "application/json")
		if !h.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(h)
	}))
}

// probe looks at everything that a user would miss. Without a broker orders are still taken, read, and delivered later,
// and what waits for the broker is no fault of this process: so that is told but does not end readiness. Otherwise all
// instances would be out of service at once, for want of something that none of them needs to answer.
func (a *App) probe(ctx context.Context) health {
	h := health{Ready: true, Checks: map[string]string{}}
	process := ""
	if !a.ready.Load() {
		process = "starting or stopping"
	}
	h.tell("process", process, true)
	answers := a.vitals.ask(ctx)
	for part, wrong := range answers {
		h.tell(part, wrong, part != brokerPart)
	}
	now := time.Now()
	since := a.vitals.broker.learn(now, answers[brokerPart] == "")
	for _, u := range a.units {
		s := standstill{now: now, broker: since, patience: a.vitals.patience}
		h.tell(u.name+" consumer", s.consumer(u.consumer.AwaySince(), u.consumer.State()), s.atFault())
		h.tell(u.name+" outbox", s.outbox(u.relay.FailingSince()), s.atFault())
	}
	return h
}
