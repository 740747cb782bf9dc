package e2e

import "testing"

// promise is something that the product must do, and the test of it.
type promise struct {
	text string
	test func(t *testing.T)
}

// keep tests promises side by side, and beside those of other tests.
func keep(t *testing.T, promises ...promise) {
	t.Helper()
	t.Parallel()
	for _, p := range promises {
		t.Run(p.text, func(t *testing.T) {
			t.Parallel()
			p.test(t)
		})
	}
}
