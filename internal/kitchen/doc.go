// Package kitchen holds the rules of kitchen-service: establishments, menus, stock and orders. Its database is the
// truth about an order.
//
// Three mechanisms live here. A client that sends an order again under its idempotency key gets the order that exists
// (place.go). A status callback is counted once however often it is delivered (absorb.go). Every change of a status is
// decided under the order's row lock, so stock returns exactly once (status.go). Orders that nobody accepts in time
// are rejected, but never before everything already said about them has been heard (timeout.go).
//
// The package knows no SQL, HTTP or Kafka: it decides over the sets that a [Store] locks and reads, in one transaction
// per batch of commands. A store holds no rules; package kitchentest has the suite that each store passes.
package kitchen
