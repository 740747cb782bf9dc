// Package consume reads Kafka topics at least once: a record's offset is committed only after its effect is, or after
// the record is safely a dead letter.
//
// A [Consumer] joins a group and runs one worker per assigned partition. The worker hands the partition's records to a
// [Handler] in order and settles each result in order:
//
//   - no error: the effect is committed by the handler, the offset may pass;
//   - [Transient]: the partition waits, with back-off and without end, and the handler gets the records again from this
//     one on;
//   - [Domain]: the record can never succeed. It is published to a dead-letter topic, then saved in a [DeadLetterStore],
//     and only then may the offset pass. Each of the steps is retried alone, without end;
//   - [Unclassified], or a panic: five tries, then a dead letter with the code [CodeInternal].
//
// Guarantee: no record is passed over, and within a partition no record is settled before its predecessors. A blocked
// partition holds up nothing but itself.
//
// Failure model: a crash, a lost partition or a failed commit at any point repeats records, and may repeat a dead
// letter on its topic; it never loses one. So a handler must be idempotent by a key of the record's own, and a dead
// letter is known by its group, topic, partition and offset, of which the store keeps one row. A broker that goes away
// and comes back stops nothing for good.
//
// What this package does not do: it keeps no list of messages seen, decodes nothing, opens no transaction, sends nothing
// back to the source topics (whoever redrives a dead letter uses [DeadLetter.RedriveHeaders]), and promises no order
// across partitions.
package consume
