// Package embedded runs a Kafka-compatible broker inside this process, so that a laptop needs nothing else. It is
// [kfake], made for tests by the authors of the Kafka client, behind guard rails for everything in it that would hurt
// in earnest.
//
// Guarantee: a record or an offset that the broker acknowledged is on disk (written and synced) and is there again after
// the process was killed. It is one node: it has no replica, and a broken disk or a lost folder loses what the outboxes
// have already deleted. It is not a production Kafka; for more than one machine, name Kafka or Redpanda instead.
//
// The guard rails:
//
//   - Clients of this process connect in memory. A TCP port is opened only on request, only on loopback, and behind a
//     front that lets through nothing but well-formed requests of a kind that the broker knows: anything else would
//     panic the process or make it allocate what a stranger asks for.
//   - A lock on the folder keeps a second broker out.
//   - After an unclean stop the log of offsets may end in a torn entry. The broker would read up to it but append behind
//     it, and lose those commits at the next crash; so the folder is opened, closed (which writes the log anew) and opened
//     again.
//   - The broker deletes nothing by itself. A trimmer removes what every reader has committed, but never the last record
//     of a partition: an empty log would start again at offset 0, below the committed offsets.
//   - Below a reserve of free disk space it refuses records, commits and new topics with an error after which clients try
//     again, and goes on by itself: on a full disk it would acknowledge commits that it could not write. It refuses topics
//     beyond 512 partitions in all.
//   - A committed offset beyond the end of its log, which only a damaged folder can have, is put back to the start:
//     readers are idempotent, and a gap would be worse.
//
// Failure model: after a crash a producer that outlived it may see its unanswered records twice in the log, and groups
// have forgotten their members. Others may use the reserve up: what the broker writes by half then, when members of a
// group come and go, hides later commits, and after a crash those records are read again. At start the whole log is
// read, so memory and time grow with what was not trimmed.
package embedded
