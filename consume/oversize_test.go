package consume_test

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/consume"
)

// brokerLimit is the broker's max.message.bytes.
const brokerLimit = 1_048_588

// sendLargest produces the largest record that the broker takes.
func (r *rig) sendLargest() []byte {
	r.Helper()
	client := r.client(kgo.ProducerBatchMaxBytes(brokerLimit), kgo.ProducerBatchCompression(kgo.NoCompression()))
	for n := brokerLimit; ; n-- {
		value := bytes.Repeat([]byte("x"), n)
		err := client.ProduceSync(r.Context(), &kgo.Record{Topic: topic, Value: value}).FirstErr()
		if err == nil {
			return value
		}
		if !errors.Is(err, kerr.MessageTooLarge) {
			r.Fatalf("produce: %v", err)
		}
	}
}

func oversizeLeavesValueOut(r *rig) {
	applied := new(log)
	value := r.sendLargest()
	r.send(values(0, "{1}")...)
	r.start(each(applied.strict)).awaitCommit(0, 2)

	applied.expect(r.T, "{1}")
	if row := r.expectDead(0)[0]; !bytes.Equal(row.Value, value) {
		r.Errorf("the row has %d bytes of %d", len(row.Value), len(value))
	}
	letter := r.published()[0]
	omitted := valueOf(r.T, letter, consume.HeaderValueOmitted)
	if letter.Value != nil || omitted != strconv.Itoa(len(value)) {
		r.Errorf("published %d bytes and %s left out, want 0 and %d", len(letter.Value), omitted, len(value))
	}
}

func oversizeLeavesAllOut(r *rig) {
	large := strings.Repeat("x", 6000)
	r.send(&kgo.Record{Key: []byte(large), Value: []byte("{"), Headers: []kgo.RecordHeader{header("h", large)}})
	m := r.start(each(new(log).strict), func(o *consume.Options) { o.MaxMessageBytes = 2000 })
	m.awaitCommit(0, 1)

	row := r.expectDead(0)[0]
	if string(row.Key) != large || len(row.Headers) != 1 {
		r.Errorf("the row has a key of %d bytes and %d headers", len(row.Key), len(row.Headers))
	}
	letter := r.published()[0]
	if letter.Key != nil || valueOf(r.T, letter, consume.HeaderKeyOmitted) != "6000" ||
		valueOf(r.T, letter, consume.HeaderHeadersOmitted) != "1" || valueOf(r.T, letter, consume.HeaderGroup) != group {
		r.Errorf("published key of %d bytes, headers %v", len(letter.Key), letter.Headers)
	}
}

func brokerRefusesSize(r *rig) {
	tooLarge := r.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: deadLetters, Err: kerr.MessageTooLarge, Count: 1,
	})
	defer tooLarge.Remove()
	r.send(values(0, "{", "{")...)
	r.start(each(new(log).strict)).awaitCommit(0, 2)
	letters := r.published()
	if letters[0].Value != nil || valueOf(r.T, letters[0], consume.HeaderValueOmitted) != "1" {
		r.Errorf("first: value %q, want it left out", letters[0].Value)
	}
	if string(letters[1].Value) != "{" {
		r.Errorf("second: value %q, want it kept", letters[1].Value)
	}
}
