package bonustest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/bonus"
)

// inParallel runs f n times at once and returns when all have ended.
func inParallel(n int, f func(i int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		done.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	done.Wait()
}

// patience bounds what a test waits for; only a failure takes so long.
const patience = 20 * time.Second

// whileHeld runs f while another process keeps the balances, and with them the transactions of all others, locked.
func (w *world) whileHeld(f func()) {
	held, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		err := w.engine.Store.Write(w.ctx, func(tx bonus.Tx) error {
			err := tx.AddBalances(map[bonus.Account]int64{bonus.Issued: -1})
			close(held)
			select {
			case <-release:
			case <-time.After(patience):
				w.t.Error("something waits for a transaction that should not")
			}
			return errors.Join(err, errStop)
		})
		if !errors.Is(err, errStop) {
			w.t.Error(err)
		}
	})
	defer holder.Wait()
	defer close(release)
	<-held
	f()
}

var errStop = errors.New("stop")

// awaitUndecided returns when the service is busy with n keys.
func (w *world) awaitUndecided(n int) {
	w.t.Helper()
	for begin := time.Now(); w.service.Undecided() != n; runtime.Gosched() {
		if time.Since(begin) > patience {
			w.t.Fatalf("%d keys are undecided, want %d", w.service.Undecided(), n)
		}
	}
}

// outrun is a store in which, once, another process commits after the rules have looked and before they insert. On an
// engine where writers take turns that can't happen, so the rules don't see what was committed when they look.
type outrun struct {
	bonus.Store
	rival func() // nil once it was there
}

func (s *outrun) Write(ctx context.Context, f func(bonus.Tx) error) error {
	rival := s.rival
	s.rival = nil
	if rival == nil {
		return s.Store.Write(ctx, f)
	}
	rival()
	return s.Store.Write(ctx, func(tx bonus.Tx) error { return f(blindTx{tx}) })
}

type blindTx struct{ bonus.Tx }

func (blindTx) AnswersByKey([]bonus.CallerKey) (map[bonus.CallerKey]bonus.Answer, error) {
	return map[bonus.CallerKey]bonus.Answer{}, nil
}

func (blindTx) AccrualsByBusinessKey([]bonus.BusinessKey) (map[bonus.BusinessKey]bonus.Accrual, error) {
	return map[bonus.BusinessKey]bonus.Accrual{}, nil
}

func (blindTx) CampaignByKey(bonus.CallerKey) (c bonus.Campaign, found bool, err error) {
	return c, false, nil
}

func (blindTx) LockCampaign(uuid.UUID) (c bonus.Campaign, found bool, err error) {
	return c, false, nil
}

// outrunBy is another process that is outrun once.
func (w *world) outrunBy(rival func()) *bonus.Service {
	return w.newService(&outrun{w.engine.Store, rival})
}

// clock is a store whose clock shows what it is set to.
type clock struct {
	bonus.Store
	now time.Time
}

func (s *clock) Write(ctx context.Context, f func(bonus.Tx) error) error {
	return s.Store.Write(ctx, func(tx bonus.Tx) error { return f(clockTx{tx, s.now}) })
}

type clockTx struct {
	bonus.Tx
	now time.Time
}

func (t clockTx) Now() (time.Time, error) { return t.now, nil }

// failsAfter is a store that fails after that many transactions.
type failsAfter struct {
	bonus.Store
	left int
}

func (s *failsAfter) Write(ctx context.Context, f func(bonus.Tx) error) error {
	if s.left--; s.left < 0 {
		return context.DeadlineExceeded
	}
	return s.Store.Write(ctx, f)
}
