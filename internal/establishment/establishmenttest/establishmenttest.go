// Package establishmenttest is the suite that every store of establishment passes: the promises of the store itself,
// and the rules in each case that concerns establishment alone, played through a service over that store. The broker is
// a script here: it keeps what it acknowledges and fails as it is told.
//
// The suite does not test timing; it needs a store on a real clock only.
package establishmenttest

import (
	"testing"

	"kuhnya/internal/establishment"
)

// Run tests the store that open returns. Each call of open must return an empty store that is closed with its test.
func Run(t *testing.T, open func(t *testing.T) establishment.Store) {
	t.Run("Store", func(t *testing.T) { testStore(t, open) })
	t.Run("Press", func(t *testing.T) { testPress(t, open) })
	t.Run("Repeat", func(t *testing.T) { testRepeat(t, open) })
	t.Run("Trace", func(t *testing.T) { testTrace(t, open) })
	t.Run("Merge", func(t *testing.T) { testMerge(t, open) })
	t.Run("Sweep", func(t *testing.T) { testSweep(t, open) })
	t.Run("Property", func(t *testing.T) { testProperty(t, open) })
}
