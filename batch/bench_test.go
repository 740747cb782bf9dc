package batch_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"kuhnya/batch"
)

// slowCommit is a store with one writer whose commits take as long as a write to disk, however much they carry.
type slowCommit struct{ writer sync.Mutex }

func (s *slowCommit) apply(_ context.Context, reqs []int) ([]batch.Outcome[int], error) {
	s.writer.Lock()
	defer s.writer.Unlock()
	time.Sleep(200 * time.Microsecond) // the cost that is shared
	return echo(reqs), nil
}

// BenchmarkGroup compares 64 concurrent writers with and without group commit.
func BenchmarkGroup(b *testing.B) {
	const writers = 64
	parallel := func(b *testing.B, do func(req int) error) {
		b.ReportAllocs()
		b.SetParallelism((writers + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := do(1); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	}

	b.Run("direct", func(b *testing.B) {
		var store slowCommit
		parallel(b, func(req int) error {
			_, err := store.apply(b.Context(), []int{req})
			return err
		})
	})
	grouped := func(apply batch.Apply[int, int]) func(*testing.B) {
		return func(b *testing.B) {
			g := batch.New(apply, batch.Options[int, int]{})
			parallel(b, func(req int) error {
				_, err := g.Do(b.Context(), req)
				return err
			})
			if err := g.Close(b.Context()); err != nil {
				b.Error(err)
			}
		}
	}
	b.Run("group", grouped(new(slowCommit).apply))
	b.Run("overhead", grouped(func(_ context.Context, reqs []int) ([]batch.Outcome[int], error) { return echo(reqs), nil }))
}
