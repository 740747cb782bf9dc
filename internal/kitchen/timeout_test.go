package kitchen_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kuhnya/internal/database"
	"kuhnya/internal/database/databasetest"
	"kuhnya/internal/database/messagesql"
	"kuhnya/internal/event"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/kitchen/kitchensql"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/internal/trace"
)

// callbackLog is the log's edge under the test's control.
type callbackLog struct {
	mu              sync.Mutex
	ends, committed kitchen.Offsets
	err             error
	takes           time.Duration // of each question
	endsRead        int
}

func (l *callbackLog) Ends(context.Context) (kitchen.Offsets, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endsRead++
	return l.ends, l.err
}

func (l *callbackLog) Committed(context.Context) (kitchen.Offsets, error) {
	time.Sleep(l.answerTime())
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.committed, l.err
}

func (l *callbackLog) answerTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takes
}

func (l *callbackLog) set(f func(*callbackLog)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

// overdueOrder starts a service whose database, by its own clock, holds one order past its deadline, and a sweeper.
type overdueOrder struct {
	t       *testing.T
	service *kitchen.Service
	store   kitchen.Store
	sweeper *kitchen.TimeoutSweeper
	outbox  messagesql.Outbox
	order   kitchen.Order
	journal journal
	cancel  context.CancelFunc
	ended   chan struct{}
}

func sweepOverdueOrder(t *testing.T, log *callbackLog) *overdueOrder {
	db := databasetest.SQLite(t, kitchensql.Migrations(), messagesql.Migrations())
	store := kitchensql.NewSQLite(db)
	service := kitchen.New(store, kitchen.Options{Topics: event.Topics{}, Classify: database.BatchClass, Wake: func() {}})
	ctx, cancel := context.WithCancel(t.Context())
	s := &overdueOrder{t: t, service: service, store: store, outbox: messagesql.NewOutbox(db), cancel: cancel, ended: make(chan struct{})}
	place := kitchen.Establishment{
		ID: uuid.New(), Name: "Canteen", State: kitchen.Open, AcceptTimeout: time.Second, Timezone: "UTC", Currency: money.RUB,
	}
	_, _, err := service.PutEstablishment(ctx, place)
	s.must(err)
	s.order = kitchen.Order{
		ID: uuid.New(), UserID: "alice", EstablishmentID: place.ID, Status: lifecycle.Placed, Seq: 1,
		Total: money.Money{Currency: money.RUB}, AcceptDeadline: time.UnixMicro(1), CreatedAt: time.UnixMicro(0), UpdatedAt: time.UnixMicro(0),
	}
	s.must(store.Write(ctx, func(tx kitchen.Tx) error {
		_, insert := tx.InsertOrders([]kitchen.Order{s.order})
		return errors.Join(insert, tx.InsertEvents([]kitchen.Event{{OrderID: s.order.ID, Seq: 1, To: lifecycle.Placed, Deliveries: 1}}))
	}))
	s.sweeper = kitchen.NewTimeoutSweeper(service, log, s.journal.logger())
	go func() {
		defer close(s.ended)
		s.sweeper.Run(ctx)
	}()
	return s
}

func (s *overdueOrder) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// after lets d pass and says where the order stands then.
func (s *overdueOrder) after(d time.Duration, want lifecycle.Status) {
	s.t.Helper()
	time.Sleep(d) // of the bubble's clock
	synctest.Wait()
	order, _, err := s.store.Order(s.t.Context(), s.order.ID)
	s.must(err)
	if order.Status != want {
		s.t.Errorf("order is %s, want %s", order.Status, want)
	}
}

func (s *overdueOrder) stop() {
	s.cancel()
	<-s.ended
	s.must(s.service.Close(context.Background()))
}

// toldInATraceOfItsOwn expects the fact and the log line of a time-out.
func (s *overdueOrder) toldInATraceOfItsOwn() {
	s.t.Helper()
	rows, err := s.outbox.Pending(s.t.Context(), 0, 10)
	s.must(err)
	if len(rows) != 1 {
		s.t.Fatalf("%d facts", len(rows))
	}
	id := trace.ID(event.Open(rows[0].Headers).TraceParent)
	want := []map[string]any{{"level": "INFO", "msg": "order not accepted in time", "order_id": s.order.ID.String(), "trace_id": id}}
	if diff := cmp.Diff(want, s.journal.lines(s.t)); id == "" || diff != "" {
		s.t.Errorf("told in trace %q, log (-want +got):\n%s", id, diff)
	}
}

func TestTimeoutSweeper_waits_after_a_start_and_then_rejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sweepOverdueOrder(t, &callbackLog{})
		s.after(9*time.Second, lifecycle.Placed)
		s.after(3*time.Second, lifecycle.Rejected)
		events, err := s.store.Events(t.Context(), s.order.ID)
		s.must(err)
		if last := events[len(events)-1]; last.Reason != kitchen.AcceptTimeout || last.Actor != "system:accept_timeout" {
			t.Errorf("rejected by %s because of %s", last.Actor, last.Reason)
		}
		if n := s.sweeper.TimedOut(); n != 1 {
			t.Errorf("counted %d, want 1", n)
		}
		s.stop()
		s.toldInATraceOfItsOwn()
	})
}

func TestTimeoutSweeper_waits_for_what_is_on_its_way(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &callbackLog{ends: kitchen.Offsets{0: 0, 1: 7}, committed: kitchen.Offsets{1: 6}}
		s := sweepOverdueOrder(t, log)
		s.after(time.Minute, lifecycle.Placed)
		if log.endsRead != 1 {
			t.Errorf("ends read %d times: a busy log would never be reached", log.endsRead)
		}
		log.set(func(l *callbackLog) { l.ends, l.committed = kitchen.Offsets{1: 9}, kitchen.Offsets{1: 7} })
		s.after(time.Second, lifecycle.Rejected)
		s.stop()
	})
}

func TestTimeoutSweeper_leaves_an_order_that_was_accepted_meanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &callbackLog{ends: kitchen.Offsets{0: 1}}
		s := sweepOverdueOrder(t, log)
		s.after(time.Minute, lifecycle.Placed)
		_, err := s.service.Change(t.Context(), kitchen.Change{
			OrderID: s.order.ID, To: lifecycle.Accepted, Party: lifecycle.Staff, Actor: "staff:marta", Key: "k",
		})
		s.must(err)
		log.set(func(l *callbackLog) { l.committed = kitchen.Offsets{0: 1} })
		s.after(time.Minute, lifecycle.Accepted)
		if n := s.sweeper.TimedOut(); n != 0 {
			t.Errorf("counted %d, want 0", n)
		}
		s.stop()
	})
}

func TestTimeoutSweeper_waits_again_after_the_broker_was_away(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &callbackLog{err: errors.New("no broker")}
		s := sweepOverdueOrder(t, log)
		s.after(time.Hour, lifecycle.Placed)
		log.set(func(l *callbackLog) { l.err = nil })
		s.after(9*time.Second, lifecycle.Placed)
		s.after(3*time.Second, lifecycle.Rejected)
		s.stop()
	})
}

// A question that waits for its time-out must not shorten what accepts get afterwards.
func TestTimeoutSweeper_counts_from_the_first_answer_after_an_outage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &callbackLog{err: errors.New("no broker"), takes: 3 * time.Second}
		s := sweepOverdueOrder(t, log)
		s.after(time.Minute, lifecycle.Placed)
		log.set(func(l *callbackLog) { l.err, l.takes = nil, 0 })
		s.after(10*time.Second, lifecycle.Placed)
		s.after(5*time.Second, lifecycle.Rejected)
		s.stop()
	})
}

// An outage may end while a question waits: the answer is late, and meanwhile a press may have failed.
func TestTimeoutSweeper_takes_a_slow_answer_for_an_outage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &callbackLog{ends: kitchen.Offsets{0: 1}}
		s := sweepOverdueOrder(t, log)
		s.after(time.Minute, lifecycle.Placed)
		log.set(func(l *callbackLog) { l.takes = 3 * time.Second })
		s.after(4*time.Second, lifecycle.Placed)
		log.set(func(l *callbackLog) { l.takes, l.committed = 0, kitchen.Offsets{0: 1} })
		s.after(9*time.Second, lifecycle.Placed)
		s.after(6*time.Second, lifecycle.Rejected)
		s.stop()
	})
}
