package obs

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestShared(t *testing.T) {
	t.Run("who asks meanwhile gets the same answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var shared Shared[int64]
			var calls atomic.Int64
			slow := func() (int64, error) {
				time.Sleep(time.Second)
				return calls.Add(1), errors.New("half")
			}
			var asking sync.WaitGroup
			for range 10 {
				asking.Go(func() {
					if n, err := shared.Ask(t.Context(), slow); n != 1 || err == nil || err.Error() != "half" {
						t.Errorf("%d, %v", n, err)
					}
				})
			}
			asking.Wait()
			if n, _ := shared.Ask(t.Context(), slow); n != 2 {
				t.Errorf("who asks later gets answer %d", n)
			}
		})
	})
	t.Run("nobody waits longer than they want, and a hanging answer is looked for once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var shared Shared[int]
			hang := make(chan struct{})
			var calls atomic.Int64
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				began := time.Now()
				_, err := shared.Ask(ctx, func() (int, error) {
					calls.Add(1)
					<-hang
					return 0, nil
				})
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
					t.Errorf("%v after %s", err, time.Since(began))
				}
				cancel()
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("looked for %d times", n)
			}
			close(hang)
			synctest.Wait()
			if n, err := shared.Ask(t.Context(), func() (int, error) { return 7, nil }); n != 7 || err != nil {
				t.Errorf("afterwards %d, %v", n, err)
			}
		})
	})
}
