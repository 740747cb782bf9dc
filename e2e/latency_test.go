package e2e

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	arrivalsPerSecond = 200
	pollTicket        = time.Millisecond // between two looks at the board, of all who wait together
)

// BenchmarkOrderToTicket measures how long it takes from the answer to an order until its ticket is on the board: outbox,
// relay, broker and consumer. Orders come at random, 200 a second on average, whether earlier ones are answered or not,
// so that a slow answer doesn't hide the ones behind it. Everything, clients too, shares the machine's cores.
func BenchmarkOrderToTicket(b *testing.B) {
	v := openVenue(b, soloSite(b), uncounted("pelmeni"))
	answered, shown := make([]time.Duration, b.N), make([]time.Duration, b.N)
	random := rand.New(rand.NewPCG(1, 2))
	looks := time.NewTicker(pollTicket)
	defer looks.Stop()
	var orders sync.WaitGroup
	due := time.Now()
	b.ResetTimer()
	for i := range b.N {
		<-time.After(time.Until(due))
		sent := due
		orders.Go(func() {
			id := into[order](b, v.alice.place(b, newKey(), v.portions(0, 1))).ID
			placed := time.Now()
			v.watchBoard(b, id, looks.C)
			answered[i], shown[i] = placed.Sub(sent), time.Since(placed)
		})
		due = due.Add(time.Duration(random.ExpFloat64() * float64(time.Second) / arrivalsPerSecond))
	}
	orders.Wait()
	b.StopTimer()
	reportPercentiles(b, "answer", answered)
	reportPercentiles(b, "ticket", shown)
}

// watchBoard returns when the order is on the board. Those who wait take turns in looking: if each looked as often as it
// liked, they would make slow what they measure.
func (v *venue) watchBoard(b *testing.B, id string, looks <-chan time.Time) {
	for deadline := time.Now().Add(patience); v.cook.send(b, "GET", "/v1/tickets/"+id, nil).status != 200; <-looks {
		if time.Now().After(deadline) {
			b.Errorf("order %s is not on the board", id)
			return
		}
	}
}

func reportPercentiles(b *testing.B, name string, times []time.Duration) {
	slices.Sort(times)
	at := func(percent int) float64 {
		return float64(times[(len(times)-1)*percent/100]) / float64(time.Millisecond)
	}
	b.ReportMetric(at(50), name+"-p50-ms")
	b.ReportMetric(at(99), name+"-p99-ms")
}
