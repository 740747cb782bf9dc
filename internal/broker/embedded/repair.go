package embedded

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

// repairOffsets puts every committed offset that lies beyond the end of its log back to the log's start. Otherwise the
// group would count as having read what is written next. Reading records again is harmless, missing some is not.
func (b *Broker) repairOffsets(ctx context.Context) error {
	kafka := b.admin.Kafka()
	listed, err := kafka.ListGroups(ctx)
	if err != nil {
		return fmt.Errorf("list groups: %w", err)
	}
	starts, err := kafka.ListStartOffsets(ctx)
	if err != nil {
		return fmt.Errorf("list start offsets: %w", err)
	}
	ends, err := kafka.ListEndOffsets(ctx)
	if err != nil {
		return fmt.Errorf("list end offsets: %w", err)
	}
	for _, group := range listed.Groups() {
		committed, err := kafka.FetchOffsets(ctx, group)
		if err != nil {
			// Groups of other kinds have no offsets to ask for, and no stranger's group may keep the broker from starting.
			b.options.Logger.Warn("offsets of a group not checked", "group", group, "error", err)
			continue
		}
		b.putBack(ctx, group, beyond(committed, starts, ends))
	}
	return nil
}

// beyond returns, for each committed offset behind its log's end, the start of that log.
func beyond(committed kadm.OffsetResponses, starts, ends kadm.ListedOffsets) kadm.Offsets {
	var wrong kadm.Offsets
	committed.Each(func(o kadm.OffsetResponse) {
		end, ok := ends.Lookup(o.Topic, o.Partition)
		start, known := starts.Lookup(o.Topic, o.Partition)
		if ok && known && o.At > end.Offset {
			wrong.AddOffset(o.Topic, o.Partition, start.Offset, -1)
		}
	})
	return wrong
}

// putBack doesn't stop the start when it fails: consumers put themselves back when they find their offset out of range.
func (b *Broker) putBack(ctx context.Context, group string, offsets kadm.Offsets) {
	if len(offsets) == 0 {
		return
	}
	b.options.Logger.Error("committed offsets beyond the end of the log; records were lost", "group", group)
	if err := b.admin.Kafka().CommitAllOffsets(ctx, group, offsets); err != nil {
		b.options.Logger.Error("put offsets back", "group", group, "error", err)
	}
}
