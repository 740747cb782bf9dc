package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/outbox"
)

// maxBatchBytes is the client's own limit for a batch, which is Kafka's default for max.message.bytes. A topic may
// allow less; its refusal then decides.
const maxBatchBytes = 1048588

// record carries a message. Its time is left to the client, which sets the moment of publishing: a row may have waited
// for hours, and retention by time must not delete it on arrival.
func record(m outbox.Message) *kgo.Record {
	r := &kgo.Record{Topic: m.Topic, Value: m.Payload}
	if m.Key != "" {
		r.Key = []byte(m.Key)
	}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return r
}

// maxEncodedSize is at least the size of a batch that holds only m: 61 bytes of batch header, five numbers and three
// lengths of a record, two lengths of each header.
func maxEncodedSize(m outbox.Message) int {
	const batchHeader, perRecord, perHeader = 61 + 4, 8 * binary.MaxVarintLen64, 2 * binary.MaxVarintLen32
	size := batchHeader + perRecord + len(m.Key) + len(m.Payload)
	for _, h := range m.Headers {
		size += perHeader + len(h.Key) + len(h.Value)
	}
	return size
}

var refusals = []error{
	kerr.MessageTooLarge,
	kerr.RecordListTooLarge,
	kerr.InvalidRecord,
	kerr.InvalidTimestamp,
	kerr.InvalidTopicException,
	kerr.UnsupportedForMessageFormat,
}

// refused says that the broker or the client will not take a record however often it is sent. The client fails every
// record that waits for the same partition with the same error, so only a record that was sent alone is known to be
// meant.
func refused(err error) bool {
	return slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) })
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
