package idempotency

// Verdict is what is to be done with a command, by what is stored under its key.
type Verdict int

const (
	// Execute means that the key is free.
	Execute Verdict = iota
	// Replay means that this very command was done already: its answer is to be given again.
	Replay
	// Reused means that the key belongs to another command: the request is to be refused.
	Reused
)

// String returns the verdict in lower case.
func (v Verdict) String() string { return [...]string{"execute", "replay", "reused"}[v] }

// Decide judges a command by its fingerprint and the one stored under its key; found says that there is one. It is
// only as good as the read it follows: Execute must still be confirmed by the unique index that the key is inserted
// under.
func Decide(found bool, stored, got Fingerprint) Verdict {
	switch {
	case !found:
		return Execute
	case stored.Equal(got):
		return Replay
	default:
		return Reused
	}
}
