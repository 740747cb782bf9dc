package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

const probeTimeout = 2 * time.Second

// health is the body of /readyz: what works and what does not, by part.
type health struct {
	Ready  bool              `json:"ready"`
	Checks map[string]string `json:"checks"`
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

// probe looks at what a request needs. Without a broker orders are still taken and delivered later, so that is told
// but does not end readiness.
func (a *App) probe(ctx context.Context) health {
	h := health{Ready: a.ready.Load(), Checks: map[string]string{}}
	for _, u := range a.units {
		h.Checks[u.name+" database"] = "ok"
		if err := u.db.Probe(ctx); err != nil {
			h.Ready, h.Checks[u.name+" database"] = false, "not writable"
		}
	}
	h.Checks["broker"] = "ok"
	if err := a.messaging.admin.Ping(ctx); err != nil {
		h.Checks["broker"] = "unreachable, messages are delivered later"
	}
	return h
}
