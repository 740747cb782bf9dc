package idempotency_test

import (
	"context"
	"fmt"
	"net/http"

	"kuhnya/idempotency"
)

// scope is the whole name of a key: the same characters from another caller are another key.
type scope struct {
	caller, operation string
	key               idempotency.Key
}

// A client sends an order, repeats it in the other spelling of its key, and then uses the key for something else. The
// map stands for a table with a unique index on the scope.
func Example() {
	stored := map[scope]idempotency.Fingerprint{}

	post := func(caller, header string, quantity int64) {
		request := http.Header{idempotency.Header: {header}}
		key, _, err := idempotency.ParseHeader(request[idempotency.Header])
		if err != nil {
			fmt.Println(err)
			return
		}
		command := idempotency.NewFingerprint("orders.place").
			List("lines", 1, func(_ int, line *idempotency.Builder) {
				line.String("dish_id", "borscht").Int("quantity", quantity)
			}).
			Sum()
		s := scope{caller, "orders.place", key}
		first, found := stored[s]
		verdict := idempotency.Decide(found, first, command)
		if verdict == idempotency.Execute {
			stored[s] = command
		}
		fmt.Println(caller, key, verdict)
	}

	post("alice", `7f3c`, 2)
	post("alice", `"7f3c"`, 2)
	post("alice", `7f3c`, 3)
	post("bob", `7f3c`, 2)
	post("bob", `"7f3c`, 2)
	// Output:
	// alice 7f3c execute
	// alice 7f3c replay
	// alice 7f3c reused
	// bob 7f3c execute
	// invalid idempotency key: the closing quote is missing
}

// A duplicate waits for the first request instead of running into it, and then starts again at its key.
func ExampleClaims() {
	var claims idempotency.Claims[scope]
	s := scope{"alice", "orders.place", "7f3c"}

	release, _ := claims.Acquire(s)
	finished := make(chan struct{})
	go func() {
		for {
			if release, ok := claims.Acquire(s); ok {
				defer release()
				fmt.Println("duplicate: look the key up")
				close(finished)
				return
			}
			if !claims.Wait(context.Background(), s) {
				return // here the answer would be: request in progress
			}
		}
	}()
	fmt.Println("first: decided")
	release()
	<-finished
	// Output:
	// first: decided
	// duplicate: look the key up
}
