package consume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// commit moves the group's offset of this partition to what is settled. A failure is not the consumer's end: the newest
// offset is committed later, until the partition is taken away.
func (w *worker) commit() {
	next, open := w.progress.uncommitted()
	if !open || w.stop.Err() != nil {
		return // a halted worker's owner commits for it; the owner of a lost partition doesn't
	}
	ctx, cancel := context.WithTimeout(w.stop, w.consumer.options.CommitTimeout)
	defer cancel()
	if err := commit(ctx, w.client, map[Partition]kgo.EpochOffset{w.partition: next}); err != nil {
		w.due = time.After(w.recommit.NextBackOff())
		w.log.Warn("trying again", "step", string(StepCommit), "offset", next.Offset, "error", err)
		w.consumer.options.Events.Retried(w.partition, StepCommit, err)
		return
	}
	w.due = nil
	w.recommit.Reset()
	w.progress.committed(next)
	w.consumer.options.Events.Committed(w.partition, next.Offset)
}

// commitLast commits what halted workers have settled, as long as the partitions are still ours.
func (c *Consumer) commitLast(ctx context.Context, client *kgo.Client, workers []*worker) {
	offsets := map[Partition]kgo.EpochOffset{}
	for _, w := range workers {
		if next, open := w.progress.uncommitted(); open {
			offsets[w.partition] = next
		}
	}
	if len(offsets) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.CommitTimeout)
	defer cancel()
	if err := c.commitUntil(ctx, client, offsets); err != nil {
		c.options.Logger.Warn("last commit failed; records will come again", "group", c.options.Group, "error", err)
		return
	}
	for p, next := range offsets {
		c.options.Events.Committed(p, next.Offset)
	}
}

// commitUntil tries again until it succeeds, ctx ends, or the broker says that the group has gone on without us.
func (c *Consumer) commitUntil(ctx context.Context, client *kgo.Client, offsets map[Partition]kgo.EpochOffset) error {
	retry := exponential(c.options.RetryMin, c.options.RetryMax)
	for {
		err := commit(ctx, client, offsets)
		if err == nil || errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.UnknownMemberID) {
			return err
		}
		if !sleep(ctx, retry.NextBackOff()) {
			return err
		}
	}
}

// commit returns the failures of the request and of each partition in it.
func commit(ctx context.Context, client *kgo.Client, offsets map[Partition]kgo.EpochOffset) error {
	byTopic := map[string]map[int32]kgo.EpochOffset{}
	for p, next := range offsets {
		if byTopic[p.Topic] == nil {
			byTopic[p.Topic] = map[int32]kgo.EpochOffset{}
		}
		byTopic[p.Topic][p.ID] = next
	}
	var failed error
	client.CommitOffsetsSync(ctx, byTopic,
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
			if err != nil {
				failed = fmt.Errorf("commit: %w", err)
				return
			}
			failed = refusals(response)
		})
	return failed
}

func refusals(response *kmsg.OffsetCommitResponse) error {
	var failed []error
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				failed = append(failed, fmt.Errorf("commit %s/%d: %w", topic.Topic, p.Partition, err))
			}
		}
	}
	return errors.Join(failed...)
}
