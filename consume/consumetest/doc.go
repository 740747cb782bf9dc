// Package consumetest helps to test what is built on package consume: a suite that every [consume.DeadLetterStore]
// passes, a store in memory, and a Kafka broker in memory.
//
// It guarantees nothing about a store beyond what the suite's subtests say, and neither store nor broker survives the
// test that made it.
package consumetest
