package embedded

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// DefaultReserve is the free space below which the broker refuses to write: several of the largest requests, and
	// what it writes to close in order.
	DefaultReserve = 16 << 20
	// maxPartitions, over all topics, is far more than a laptop needs. Each costs files, memory, and time at start and
	// stop, and the broker makes any number while nobody else is served.
	maxPartitions = 512
)

// guard refuses what the broker would take and should not: writes to a disk that is almost full, and topics without end.
// On a full disk the broker acknowledges commits of offsets that it could not write, and hides later ones behind a torn
// entry.
//
// The refusals are faults of the broker's own making, so that clients get an answer that they know. A fault is asked
// about a request once for each partition or topic in it, by the broker's only goroutine that serves requests.
type guard struct {
	log     string // the folder
	free    func(folder string) (int64, error)
	reserve int64
	parts   int64 // of a topic whose creator names no number
	logger  *slog.Logger

	request kmsg.Request // the last that was judged, and whether there was no room for it
	noRoom  bool

	refused atomic.Int64 // requests, for want of room
}

func newGuard(log string, o Options) *guard {
	return &guard{log: log, free: o.FreeSpace, reserve: o.Reserve, parts: int64(o.Partitions), logger: o.Logger}
}

// faults answer with errors after which a client tries again, as Kafka does where its log can't be written; who asks for
// too many partitions is told so for good.
func (g *guard) faults() []kfake.Fault {
	until := func(when func(kmsg.Request) bool, err *kerr.Error, keys ...kmsg.Key) kfake.Fault {
		return kfake.Fault{Keys: keys, Err: err, When: when, Count: -1}
	}
	return []kfake.Fault{
		until(g.refuses, kerr.KafkaStorageError, kmsg.Produce),
		until(g.refuses, kerr.CoordinatorNotAvailable, kmsg.OffsetCommit, kmsg.TxnOffsetCommit),
		until(g.refusesToGrow, kerr.KafkaStorageError, kmsg.CreateTopics, kmsg.CreatePartitions),
		until(g.tooMany, kerr.PolicyViolation, kmsg.CreateTopics, kmsg.CreatePartitions),
	}
}

// almostFull says that there is less room than the reserve. Where nobody can tell, there is enough.
func (g *guard) almostFull() bool {
	free, err := g.free(g.log)
	return err == nil && free < g.reserve
}

// refuses says that there is no room for a request, once and for all of its parts.
func (g *guard) refuses(r kmsg.Request) bool {
	if r == g.request {
		return g.noRoom
	}
	before := g.noRoom
	g.request, g.noRoom = r, g.almostFull()
	switch {
	case g.noRoom && !before:
		g.logger.Error("disk almost full, the embedded broker writes nothing until there is room", "reserve_bytes", g.reserve)
	case before && !g.noRoom:
		g.logger.Info("disk has room again, the embedded broker goes on")
	}
	if g.noRoom {
		g.refused.Add(1)
	}
	return g.noRoom
}

// refusesToGrow lets those pass who only make sure that topics are there.
func (g *guard) refusesToGrow(r kmsg.Request) bool {
	present, _ := g.topics()
	return present.grownBy(r, g.parts) > 0 && g.refuses(r)
}

func (g *guard) tooMany(r kmsg.Request) bool {
	present, err := g.topics()
	if err != nil {
		g.logger.Warn("number of partitions unknown", "error", err)
		return false
	}
	grown := present.grownBy(r, g.parts)
	if grown == 0 || present.partitions()+grown <= maxPartitions {
		return false
	}
	g.logger.Warn("new partitions refused", "present", present.partitions(), "wanted", grown, "most", maxPartitions)
	return true
}

// topics is how many partitions each topic has.
type topics map[string]int64

// topics reads what the broker writes whenever a topic comes, grows or goes: it can't be asked in the middle of a request.
func (g *guard) topics() (topics, error) {
	var file struct {
		Topics []struct {
			Name       string `json:"name"`
			Partitions int64  `json:"partitions"`
		} `json:"topics"`
	}
	content, err := os.ReadFile(filepath.Join(g.log, "topics.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	present := topics{}
	for _, t := range file.Topics {
		present[t.Name] = t.Partitions
	}
	return present, err
}

func (t topics) partitions() (n int64) {
	for _, partitions := range t {
		n += partitions
	}
	return n
}

// grownBy is how many partitions a request adds; unnamed is how many a topic gets whose creator names no number.
func (t topics) grownBy(request kmsg.Request, unnamed int64) (n int64) {
	switch r := request.(type) {
	case *kmsg.CreateTopicsRequest:
		for _, topic := range r.Topics {
			if _, exists := t[topic.Topic]; exists {
				continue
			}
			wanted := max(int64(topic.NumPartitions), int64(len(topic.ReplicaAssignment)))
			if wanted <= 0 {
				wanted = unnamed
			}
			n += wanted
		}
	case *kmsg.CreatePartitionsRequest:
		for _, topic := range r.Topics {
			if partitions, exists := t[topic.Topic]; exists {
				n += max(0, int64(topic.Count)-partitions)
			}
		}
	}
	return n
}
