package consume

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The headers that a dead letter carries on its topic besides the record's own.
const (
	HeaderOriginalTopic     = "x-dlq-original-topic"
	HeaderOriginalPartition = "x-dlq-original-partition"
	HeaderOriginalOffset    = "x-dlq-original-offset"
	HeaderGroup             = "x-dlq-group"
	HeaderErrorCode         = "x-dlq-error-code"
	HeaderErrorMessage      = "x-dlq-error-message"
	HeaderAttempts          = "x-dlq-attempts"
	HeaderFailedAt          = "x-dlq-failed-at" // RFC 3339, UTC

	// HeaderRedriveCount is also on a redriven record: there it is the number of redrives that led to it, this one
	// included.
	HeaderRedriveCount = "x-dlq-redrive-count"
	// HeaderRedriveGroup is on a redriven record only, and names the one group that it is sent for.
	HeaderRedriveGroup = "x-dlq-redrive-group"

	// The size of what had to be left out, because the record did not fit into the dead-letter topic: bytes of the
	// value, number of the record's own headers, bytes of the key.
	HeaderValueOmitted   = "x-dlq-value-omitted"
	HeaderHeadersOmitted = "x-dlq-headers-omitted"
	HeaderKeyOmitted     = "x-dlq-key-omitted"
)

var writtenHeaders = []string{
	HeaderOriginalTopic, HeaderOriginalPartition, HeaderOriginalOffset, HeaderGroup, HeaderErrorCode,
	HeaderErrorMessage, HeaderAttempts, HeaderFailedAt, HeaderRedriveCount, HeaderRedriveGroup, HeaderValueOmitted,
	HeaderHeadersOmitted, HeaderKeyOmitted,
}

// maxMessageBytes keeps an error's text from making a record too large.
const maxMessageBytes = 512

// RedrivenFor returns the group that a record was redriven for. All other groups must pass the record over: they have
// settled it when it first came. A [Consumer] does; a reader outside of groups has to ask for itself.
func RedrivenFor(headers []kgo.RecordHeader) (group string, ok bool) {
	value, ok := last(headers, HeaderRedriveGroup)
	return string(value), ok
}

// RedriveHeaders returns the headers with which the record is sent to its topic once more: its own, the group that it
// is for, and the count of redrives, grown by one.
func (d DeadLetter) RedriveHeaders() []Header {
	return append(slices.Clone(d.Headers),
		Header{HeaderRedriveGroup, []byte(d.Group)},
		Header{HeaderRedriveCount, []byte(strconv.Itoa(d.RedriveCount + 1))},
	)
}

// record is the dead letter as it is published, whole.
func (d DeadLetter) record(topic string) *kgo.Record {
	r := &kgo.Record{Topic: topic, Key: d.Key, Value: d.Value}
	for _, h := range d.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader(h))
	}
	addHeader(r, HeaderOriginalTopic, d.Topic)
	addHeader(r, HeaderOriginalPartition, strconv.Itoa(int(d.Partition)))
	addHeader(r, HeaderOriginalOffset, strconv.FormatInt(d.Offset, 10))
	addHeader(r, HeaderGroup, d.Group)
	addHeader(r, HeaderErrorCode, d.ErrorCode)
	addHeader(r, HeaderErrorMessage, d.ErrorMessage)
	addHeader(r, HeaderAttempts, strconv.Itoa(d.Attempts))
	addHeader(r, HeaderFailedAt, d.FailedAt.UTC().Format(time.RFC3339Nano))
	addHeader(r, HeaderRedriveCount, strconv.Itoa(d.RedriveCount))
	return r
}

func addHeader(r *kgo.Record, key, value string) {
	r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
}

// ownHeaders leaves out what this package writes: else a record's headers would grow with every redrive.
func ownHeaders(headers []kgo.RecordHeader) []Header {
	var own []Header
	for _, h := range headers {
		if !isWritten(h.Key) {
			own = append(own, Header(h))
		}
	}
	return own
}

func isWritten(key string) bool { return slices.Contains(writtenHeaders, key) }

// redriveCount reads the count that a redriven record carries; a foreign or damaged value counts as none.
func redriveCount(headers []kgo.RecordHeader) int {
	value, _ := last(headers, HeaderRedriveCount)
	n, err := strconv.ParseUint(string(value), 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

func last(headers []kgo.RecordHeader, key string) ([]byte, bool) {
	for _, h := range slices.Backward(headers) {
		if h.Key == key {
			return h.Value, true
		}
	}
	return nil, false
}

// message makes an error's text fit for a header and for a text column: UTF-8, no NUL (PostgreSQL refuses it), and cut
// at the start of a character.
func message(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "\uFFFD"), "\x00", "\uFFFD")
	if len(text) <= maxMessageBytes {
		return text
	}
	end := maxMessageBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
