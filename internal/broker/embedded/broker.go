package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"

	"kuhnya/internal/broker"
)

// Broker is a running embedded broker. Make one with [Open].
type Broker struct {
	options Options
	folder  *folder
	guard   *guard
	network network
	front   *front // nil without a TCP port
	admin   *broker.Admin

	stop       context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex // guards cluster; held while it opens and closes
	cluster *cluster   // nil while paused
}

// Open starts a broker: it locks the folder ([ErrLocked] if another has it), repairs what an unclean stop left, creates
// the declared topics and begins to trim. Nothing is written before the port, if one is asked for, and the lock are had.
func Open(ctx context.Context, o Options) (*Broker, error) {
	b := &Broker{options: o.withDefaults(), stop: func() {}}
	if err := b.open(ctx); err != nil {
		return nil, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
	}
	return b, nil
}

func (b *Broker) open(ctx context.Context) (err error) {
	if err := b.options.Topics.Validate(); err != nil {
		return err
	}
	if b.options.Addr != "" {
		if b.front, err = listenLoopback(ctx, b.options.Addr, b.network.dial, b.options.Logger); err != nil {
			return err
		}
	}
	enter := openFolder
	if b.options.Existing {
		enter = openExisting
	}
	if b.folder, err = enter(b.options.Dir); err != nil {
		return err
	}
	b.guard = newGuard(b.folder.log(), b.options)
	if err = b.Resume(); err != nil {
		return err
	}
	if b.admin, err = broker.NewAdmin(b.Connection()); err != nil {
		return err
	}
	if !b.options.Existing {
		if err = b.prepare(ctx); err != nil {
			return err
		}
	}
	return b.serve(ctx)
}

// prepare makes what is there fit for use.
func (b *Broker) prepare(ctx context.Context) error {
	err := broker.EnsureTopics(ctx, b.Connection(), b.options.Partitions, broker.TopicNames(b.options.Topics)...)
	if errors.Is(err, kerr.KafkaStorageError) {
		return fmt.Errorf("broker folder %s: disk almost full, less than %d bytes are free: %w", b.options.Dir, b.options.Reserve, err)
	}
	if err != nil {
		return err
	}
	return b.repairOffsets(ctx)
}

// serve starts what runs until Close.
func (b *Broker) serve(ctx context.Context) error {
	if b.front != nil {
		known, err := knownRequests(ctx, b.admin)
		if err != nil {
			return err
		}
		b.front.known = known
		b.background.Go(b.front.serve)
	}
	running, stop := context.WithCancel(context.Background())
	b.stop = stop
	if !b.options.Existing {
		b.background.Go(func() { b.trimEachMinute(running) })
	}
	return nil
}

// Close stops the broker and frees its folder. Clients should be closed before: consumers that are not leave ghosts in
// their groups for the next start. If ctx ends first, the folder stays locked until the broker has closed or the
// process ends, and the next start repairs it.
func (b *Broker) Close(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- b.close() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("close broker in %s: %w", b.options.Dir, ctx.Err())
	}
}

func (b *Broker) close() error {
	b.stop()
	if b.front != nil {
		b.front.close()
	}
	b.background.Wait()
	if b.admin != nil {
		b.admin.Close()
	}
	if b.folder == nil {
		return nil
	}
	return errors.Join(b.Pause(), b.folder.release())
}

// Pause stops the broker in order and keeps its folder, port and connections: clients find their connections cut and
// new ones refused until [Broker.Resume]. A paused broker may be closed. It is meant for drills.
func (b *Broker) Pause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster == nil {
		return nil
	}
	b.network.use(nil)
	err := b.cluster.close()
	b.cluster = nil
	if err != nil {
		return fmt.Errorf("close broker in %s: %w", b.options.Dir, err)
	}
	return b.folder.markClean()
}

// Resume starts a paused broker again; one that runs it leaves alone.
func (b *Broker) Resume() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster != nil {
		return nil
	}
	c, err := openCluster(b.folder, b.options, b.guard, b.advertised())
	if err != nil {
		return err
	}
	b.cluster = c
	b.network.use(c.memory)
	return nil
}

func (b *Broker) advertised() net.Addr {
	if b.front == nil {
		return memoryAddr
	}
	return b.front.listener.Addr()
}

// Connection reaches the broker from this process, in memory. It stays valid for as long as the broker exists.
func (b *Broker) Connection() broker.Connection {
	return broker.Connection{Seeds: []string{memoryAddr.String()}, Dial: b.network.dial}
}

// Addr is the host:port for other processes, with the port that was really taken, or "" without one.
func (b *Broker) Addr() string {
	if b.front == nil {
		return ""
	}
	return b.front.listener.Addr().String()
}

// AlmostFull says that the disk has so little room that the broker writes nothing. It goes on by itself when there is
// room again.
func (b *Broker) AlmostFull() bool { return b.guard.almostFull() }

// Refused is the number of requests that were refused because the disk is almost full.
func (b *Broker) Refused() int64 { return b.guard.refused.Load() }

// Clients is the number of connections to the TCP port.
func (b *Broker) Clients() int {
	if b.front == nil {
		return 0
	}
	return len(b.front.open)
}

// CutOff is the number of connections to the TCP port that were closed for what they sent, or were one too many.
func (b *Broker) CutOff() int64 {
	if b.front == nil {
		return 0
	}
	return b.front.cutOff.Load()
}

// Fault makes the broker refuse requests as told, for drills and tests. Faults end with a pause. It panics while the
// broker is paused.
func (b *Broker) Fault(faults ...kfake.Fault) *kfake.FaultHandle {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cluster.Fault(faults...)
}
