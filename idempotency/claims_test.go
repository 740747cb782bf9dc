package idempotency_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kuhnya/idempotency"
)

func TestClaims(t *testing.T) {
	t.Run("have one holder per key at any time", func(t *testing.T) {
		var claims idempotency.Claims[string]
		var holders, acquired atomic.Int32
		var finished sync.WaitGroup
		for range 50 {
			finished.Go(func() {
				for {
					release, ok := claims.Acquire("k")
					if !ok {
						claims.Wait(t.Context(), "k")
						continue
					}
					if n := holders.Add(1); n != 1 {
						t.Errorf("%d holders", n)
					}
					acquired.Add(1)
					holders.Add(-1)
					release()
					return
				}
			})
		}
		finished.Wait()
		if n := acquired.Load(); n != 50 || claims.Len() != 0 {
			t.Errorf("acquired %d times, %d held in the end", n, claims.Len())
		}
	})

	t.Run("follow their model, also through stale releases", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var claims idempotency.Claims[int]
			held := map[int]int{} // key → number of its holder
			var releases []func()
			var keys []int
			t.Repeat(map[string]func(*rapid.T){
				"acquire": func(t *rapid.T) {
					k := rapid.IntRange(0, 3).Draw(t, "key")
					release, ok := claims.Acquire(k)
					if _, taken := held[k]; ok == taken {
						t.Fatalf("acquire %d: %t, held: %t", k, ok, taken)
					}
					if ok {
						held[k] = len(releases)
						releases, keys = append(releases, release), append(keys, k)
					}
				},
				"release": func(t *rapid.T) {
					if len(releases) == 0 {
						t.Skip("nothing was acquired")
					}
					holder := rapid.IntRange(0, len(releases)-1).Draw(t, "holder")
					releases[holder]()
					if held[keys[holder]] == holder {
						delete(held, keys[holder])
					}
				},
				"": func(t *rapid.T) {
					if claims.Len() != len(held) {
						t.Fatalf("%d held, want %d", claims.Len(), len(held))
					}
				},
			})
		})
	})
}

func TestClaimsWait(t *testing.T) {
	t.Run("returns at once when nobody holds the key", func(t *testing.T) {
		var claims idempotency.Claims[string]
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if !claims.Wait(ctx, "k") {
			t.Error("waited for nobody")
		}
	})

	t.Run("ends with the release of the present holder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var claims idempotency.Claims[string]
			release, _ := claims.Acquire("k")
			var woken atomic.Int32
			for range 3 {
				go func() {
					if claims.Wait(t.Context(), "k") {
						woken.Add(1)
					}
				}()
			}
			synctest.Wait()
			if n := woken.Load(); n != 0 {
				t.Errorf("%d woken before the release", n)
			}
			release()
			claims.Acquire("k") // the next holder is none of their business
			synctest.Wait()
			if n := woken.Load(); n != 3 {
				t.Errorf("%d of 3 woken by the release", n)
			}
		})
	})

	t.Run("gives up when its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var claims idempotency.Claims[string]
			claims.Acquire("k")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			start := time.Now()
			if claims.Wait(ctx, "k") {
				t.Error("woken without a release")
			}
			if waited := time.Since(start); waited != 2*time.Second {
				t.Errorf("waited %v", waited)
			}
		})
	})
}
