package embedded_test

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
)

// request encodes a request as a client with an empty name sends it.
func request(req kmsg.Request) []byte {
	return kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)
}

// head is the start of a request: a size, which may lie, a key, a version, a correlation id and an empty name.
func head(size uint32, key, version int16) []byte {
	b := binary.BigEndian.AppendUint32(nil, size)
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	return append(b, 0, 0, 0, 1, 0, 0)
}

func TestFrontRefuses(t *testing.T) {
	produce := kmsg.NewPtrProduceRequest()
	produce.SetVersion(9)
	truncated := request(produce)
	truncated = truncated[:len(truncated)-3]
	binary.BigEndian.PutUint32(truncated, uint32(len(truncated)-4))

	r := open(t, t.TempDir(), onPort)
	for name, sent := range map[string][]byte{
		"unknown_key":            head(10, 9999, 0),
		"negative_key":           head(10, -1, 0),
		"key_between_known_ones": head(10, 4, 0), // between brokers only
		"version_too_new":        head(10, int16(kmsg.Metadata), 99),
		"version_negative":       head(10, int16(kmsg.Metadata), -1),
		"version_of_apiversions": head(10, int16(kmsg.ApiVersions), -1),
		"truncated_body":         truncated,
		"huge_length":            head(0xFFFFFFFF, 3, 0),
		"length_above_the_limit": head(broker.MaxRequestBytes+1, 3, 0),
		"length_below_a_header":  head(9, 3, 0),
		"length_zero":            head(0, 3, 0),
		"http":                   []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"tls":                    {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03},
		"producing_to_ids":       request(producingToUnknownIDs()),
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", r.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(sent); err != nil {
				t.Fatal(err)
			}
			// The connection is closed without an answer.
			if n, _ := io.Copy(io.Discard, conn); n != 0 {
				t.Errorf("%d bytes answered", n)
			}
			if err := r.Ping(t.Context()); err != nil {
				t.Errorf("broker afterwards: %v", err)
			}
		})
	}

	t.Run("half_a_frame_and_then_the_end", func(t *testing.T) {
		conn, err := net.Dial("tcp", r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(head(1000, 3, 0)); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if err := r.Ping(t.Context()); err != nil {
			t.Errorf("broker afterwards: %v", err)
		}
	})
}

// producingToUnknownIDs names the same partition of two topics that don't exist by their ids.
func producingToUnknownIDs() *kmsg.ProduceRequest {
	produce := kmsg.NewPtrProduceRequest()
	produce.SetVersion(13)
	produce.Acks, produce.TimeoutMillis = -1, 1000
	for id := range byte(2) {
		produce.Topics = append(produce.Topics, kmsg.ProduceRequestTopic{
			TopicID: [16]byte{15: id + 1}, Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: 0}},
		})
	}
	return produce
}

func TestFrontServes(t *testing.T) {
	t.Run("clients_of_other_processes", func(t *testing.T) {
		r := open(t, t.TempDir(), onPort)
		conn := broker.Connection{Seeds: []string{r.Addr()}}
		produce(t, conn, topics.Orders(), 10)
		client, err := kgo.NewClient(append(conn.ConsumerOptions(),
			kgo.ConsumerGroup(reporting), kgo.ConsumeTopics(topics.Orders()))...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for read := 0; read < 10; {
			fetches := client.PollFetches(t.Context())
			if err := fetches.Err(); err != nil {
				t.Fatal(err)
			}
			read += fetches.NumRecords()
			client.AllowRebalance()
		}
		if err := client.CommitUncommittedOffsets(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.wantCommitted(reporting, topics.Orders(), 10)
	})

	t.Run("a_client_that_asks_in_a_version_of_the_future", func(t *testing.T) {
		r := open(t, t.TempDir(), onPort)
		conn, err := net.Dial("tcp", r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		ask := kmsg.NewPtrApiVersionsRequest()
		ask.SetVersion(ask.MaxVersion())
		ask.ClientSoftwareName, ask.ClientSoftwareVersion = "new", "1"
		sent := request(ask)
		binary.BigEndian.PutUint16(sent[6:], 99)
		if _, err := conn.Write(sent); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 10) // size, correlation id, error code
		if _, err := io.ReadFull(conn, answer); err != nil {
			t.Fatal(err)
		}
		if code := binary.BigEndian.Uint16(answer[8:]); code != 35 {
			t.Errorf("error code %d, want 35 (unsupported version)", code)
		}
	})

	t.Run("only_loopback_and_writes_nothing_otherwise", func(t *testing.T) {
		for _, addr := range []string{":9092", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1"} {
			dir := filepath.Join(t.TempDir(), "broker")
			if _, err := embedded.Open(t.Context(), embedded.Options{Dir: dir, Addr: addr, Topics: topics}); err == nil {
				t.Errorf("listens on %s", addr)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("folder made for %s", addr)
			}
		}
	})

	t.Run("a_busy_port_is_an_error_and_writes_nothing", func(t *testing.T) {
		r := open(t, t.TempDir(), onPort)
		dir := filepath.Join(t.TempDir(), "broker")
		if _, err := embedded.Open(t.Context(), embedded.Options{Dir: dir, Addr: r.Addr(), Topics: topics}); err == nil {
			t.Error("two brokers on one port")
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("folder made")
		}
	})

	t.Run("localhost", func(t *testing.T) {
		r := open(t, t.TempDir(), func(o *embedded.Options) { o.Addr = "localhost:0" })
		produce(t, broker.Connection{Seeds: []string{r.Addr()}}, topics.Orders(), 1)
	})
}
