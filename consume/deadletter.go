package consume

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Header is one name and value of a record. A nil value and an empty one are different.
type Header struct {
	Key   string
	Value []byte
}

// DeadLetter is a record that can't be applied, kept whole, with the reason. Group, Topic, Partition and Offset identify
// it.
type DeadLetter struct {
	Group     string
	Topic     string
	Partition int32
	Offset    int64

	Key     []byte   // nil stays nil
	Value   []byte   // nil stays nil
	Headers []Header // the record's own, in order, without those that this package writes

	ErrorCode    string
	ErrorMessage string // valid UTF-8 without NUL, at most 512 bytes
	Attempts     int    // failed tries of the record in the consumer that gave it up
	FailedAt     time.Time
	// RedriveCount is how many redrives led to this record: 0 for one that its producer sent, n for one that carried
	// "x-dlq-redrive-count: n".
	RedriveCount int
}

// DeadLetterStore keeps dead letters. Package consumetest has the suite that each implementation passes.
type DeadLetterStore interface {
	// Save keeps d. If a dead letter of the same group, topic, partition and offset is there already, Save leaves it
	// as it is, whatever has become of it since, and returns nil. Save is called again, without end, until it
	// returns nil.
	Save(ctx context.Context, d DeadLetter) error
}

func newDeadLetter(group string, r *kgo.Record, code string, err error, attempts int) DeadLetter {
	return DeadLetter{
		Group: group, Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
		Key: r.Key, Value: r.Value, Headers: ownHeaders(r.Headers),
		ErrorCode: code, ErrorMessage: message(err), Attempts: attempts,
		FailedAt:     time.Now().UTC().Truncate(time.Microsecond), // what every database can keep
		RedriveCount: redriveCount(r.Headers),
	}
}
