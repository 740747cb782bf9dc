package bonustest

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"kuhnya/internal/bonus"
)

// order is a completed order of 450.00, placed when the campaigns were there already.
func (w *world) order(user string) bonus.Completed {
	return bonus.Completed{
		OrderID: uuid.New(), UserID: user, EstablishmentID: uuid.New(), Total: rub(450_00), PlacedAt: w.newest,
	}
}

func (w *world) evaluate(service *bonus.Service, orders ...bonus.Completed) []error {
	w.mu.Lock()
	for _, o := range orders {
		w.users[o.UserID] = true
	}
	w.mu.Unlock()
	return service.Evaluate(w.ctx, orders)
}

func (w *world) mustEvaluate(orders ...bonus.Completed) {
	w.t.Helper()
	for _, err := range w.evaluate(w.service, orders...) {
		w.must(err)
	}
}

// earned is what a user got for an order, by campaign.
func (w *world) earned(o bonus.Completed) map[uuid.UUID]int64 {
	w.t.Helper()
	points := map[uuid.UUID]int64{}
	for _, e := range w.entries(o.UserID) {
		if e.OrderID == o.OrderID {
			points[e.CampaignID] = e.Points
		}
	}
	return points
}

func accruesOncePerCampaign(t *testing.T, w *world) {
	w.mustCreate(fixed(50))
	o := w.order("alice")
	services := []*bonus.Service{w.service, w.other}
	inParallel(5, func(i int) {
		// The second is a repeat within one poll.
		if errs := w.evaluate(services[i%2], o, o); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			t.Error(errs)
		}
	})
	w.mustEvaluate(o)
	w.mustHave("alice", 22+50)
}
