package batch_test

import (
	"context"
	"errors"
	"fmt"

	"kuhnya/batch"
)

var errInsufficient = errors.New("insufficient funds")

// withdrawal is a request against an account, and its outcome the balance that is left.
type withdrawal struct {
	account string
	amount  int64
}

// accounts is an in-memory ledger that decides a batch in one transaction.
type accounts struct {
	balances map[string]int64
	begun    chan int      // gets the size of each transaction as it begins
	commit   chan struct{} // lets commits end
}

func (a *accounts) apply(_ context.Context, batched []withdrawal) ([]batch.Outcome[int64], error) {
	a.begun <- len(batched)
	<-a.commit
	outcomes := make([]batch.Outcome[int64], len(batched))
	for i, w := range batched {
		if a.balances[w.account] < w.amount {
			outcomes[i].Err = errInsufficient
			continue
		}
		a.balances[w.account] -= w.amount
		outcomes[i].Value = a.balances[w.account]
	}
	fmt.Println("commit of", len(batched))
	return outcomes, nil
}

// Three withdrawals arrive while the first is being committed and share the next commit. Each gets its own answer, and
// the refusal of one leaves the other two alone.
func Example() {
	ledger := &accounts{
		balances: map[string]int64{"alice": 100, "bob": 50},
		begun:    make(chan int, 4),
		commit:   make(chan struct{}),
	}
	group := batch.New(ledger.apply, batch.Options[withdrawal, int64]{})

	withdraw := func(account string, amount int64) {
		err := group.Submit(withdrawal{account, amount}, func(o batch.Outcome[int64]) {
			fmt.Println(account, amount, "→", o.Value, o.Err)
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	withdraw("alice", 10)
	<-ledger.begun
	withdraw("alice", 70)
	withdraw("alice", 30)
	withdraw("bob", 30)
	close(ledger.commit)

	if err := group.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// commit of 1
	// alice 10 → 90 <nil>
	// commit of 3
	// alice 70 → 20 <nil>
	// alice 30 → 0 insufficient funds
	// bob 30 → 20 <nil>
}
