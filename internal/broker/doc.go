// Package broker connects the services to Kafka: the names of topics and groups, the options that every client shares,
// the creation of topics, publishing, and the offsets that say who has read what.
//
// Guarantee: a record is reported as published only after all in-sync replicas acknowledged it, records of one key are
// written in the order in which they were handed over, and no call outlives its context by more than a moment, even
// when the broker accepts a connection and then never answers.
//
// Failure model: publishing is at least once. A call whose answer was lost, or that was cancelled while its request was
// under way, may have been written all the same; the caller sends it again with the same key and readers must be
// idempotent. Everything here works against Apache Kafka, Redpanda and the embedded broker of package embedded alike.
//
// What this package does not do: it consumes nothing (package consume does), decides nothing about orders, and runs no
// broker; importing it doesn't link one.
package broker
