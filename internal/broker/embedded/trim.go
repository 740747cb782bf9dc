package embedded

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

const (
	trimInterval = time.Minute
	// Bonuses have no reader of ours; the newest are kept for whoever connects one.
	keptBonuses = 100_000
)

func (b *Broker) trimEachMinute(ctx context.Context) {
	ticker := time.NewTicker(trimInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := b.Trim(ctx); err != nil && ctx.Err() == nil {
			b.options.Logger.Warn("trim embedded broker", "error", err)
		}
	}
}

// Trim deletes the records that nobody needs any more: on topics with declared groups, those before the lowest offset
// that any group has committed, where a declared group without a commit counts as one that still needs everything; of
// bonuses, all but the newest 100 000, an equal share of each partition. The last record of a partition stays in any
// case, and dead letters are never deleted.
func (b *Broker) Trim(ctx context.Context) error {
	topics := b.options.Topics
	for _, topic := range []string{topics.Orders(), topics.EstablishmentStatuses()} {
		needed, err := b.needed(ctx, topic)
		if err == nil {
			err = b.trim(ctx, topic, func(p int32, _ map[int32]int64) int64 { return needed.lowest(p) })
		}
		if err != nil {
			return fmt.Errorf("trim %s: %w", topic, err)
		}
	}
	if err := b.trim(ctx, topics.Bonuses(), newest(keptBonuses)); err != nil {
		return fmt.Errorf("trim %s: %w", topics.Bonuses(), err)
	}
	return nil
}

// commits are the committed offsets of each group that matters for a topic.
type commits []map[int32]int64

// lowest is the first offset of a partition that some group still needs.
func (c commits) lowest(partition int32) int64 {
	lowest := c[0][partition]
	for _, group := range c[1:] {
		lowest = min(lowest, group[partition])
	}
	return lowest
}

// needed asks for the commits of the topic's declared groups and of every other group that has some there.
func (b *Broker) needed(ctx context.Context, topic string) (commits, error) {
	listed, err := b.admin.Kafka().ListGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	declared := b.options.Topics.GroupsOf(topic)
	groups := append(listed.Groups(), declared...)
	slices.Sort(groups)
	var all commits
	for _, group := range slices.Compact(groups) {
		committed, err := b.admin.Committed(ctx, group, topic)
		if err != nil {
			return nil, err
		}
		if slices.Contains(declared, group) || len(committed) > 0 {
			all = append(all, committed)
		}
	}
	return all, nil
}

// newest keeps so many records of a topic.
func newest(records int64) func(int32, map[int32]int64) int64 {
	return func(p int32, ends map[int32]int64) int64 { return ends[p] - records/int64(len(ends)) }
}

// trim deletes each partition's records before the offset that upTo names.
func (b *Broker) trim(ctx context.Context, topic string, upTo func(p int32, ends map[int32]int64) int64) error {
	starts, ends, err := b.admin.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	var offsets kadm.Offsets
	for p, end := range ends {
		// Without its last record the log would begin again at 0 after a restart.
		if to := min(upTo(p, ends), end-1); to > starts[p] {
			offsets.AddOffset(topic, p, to, -1)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	deleted, err := b.admin.Kafka().DeleteRecords(ctx, offsets)
	if err != nil {
		return err
	}
	return deleted.Error()
}
