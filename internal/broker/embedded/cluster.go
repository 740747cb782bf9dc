package embedded

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// segmentBytes is the size of one file of a log. Trimming frees whole files only, and a start reads all of them.
const segmentBytes = 8 << 20

var errNotSaved = errors.New("state of the broker not saved; the next start repairs it")

// cluster is one run of the broker over its folder, from opening the log to closing it.
type cluster struct {
	*kfake.Cluster
	memory *kfake.VirtualNetwork
	log    *clusterLog
}

// openCluster opens the log after marking it dirty, and heals it first if it was dirty already. It listens in memory
// and tells clients to connect to addr.
func openCluster(f *folder, o Options, g *guard, addr net.Addr) (*cluster, error) {
	dirty, err := f.dirty()
	if err != nil {
		return nil, err
	}
	if err := f.markDirty(); err != nil {
		return nil, err
	}
	if dirty {
		if err := heal(f, o, addr); err != nil {
			return nil, err
		}
	}
	c, err := startCluster(f, o, addr)
	if err == nil {
		c.Fault(g.faults()...)
	}
	return c, err
}

// heal opens and closes the log once, with nobody connected. Closing writes the files of groups and producers anew,
// without what a crash left at their end.
func heal(f *folder, o Options, addr net.Addr) error {
	o.Logger.Warn("embedded broker was not closed in order; repairing", "folder", f.dir)
	c, err := startCluster(f, o, addr)
	if err != nil {
		return err
	}
	return c.close()
}

func startCluster(f *folder, o Options, addr net.Addr) (*cluster, error) {
	c := &cluster{memory: new(kfake.VirtualNetwork), log: &clusterLog{logger: o.Logger}}
	listen := func(netw, _ string) (net.Listener, error) {
		l, err := c.memory.Listen(netw, memoryAddr.String())
		return advertised{Listener: l, addr: addr}, err
	}
	var err error
	c.Cluster, err = kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.ClusterID("kuhnya"),
		kfake.DataDir(f.log()),
		kfake.MaxVersions(spokenVersions()),
		kfake.SyncWrites(),
		kfake.ListenFn(listen),
		kfake.DefaultNumPartitions(int(o.Partitions)),
		kfake.BrokerConfigs(map[string]string{
			"log.segment.bytes": strconv.Itoa(segmentBytes),
			// A group that rested for a week must find its place again.
			"offsets.retention.minutes": strconv.Itoa(math.MaxInt32),
		}),
		kfake.WithLogger(c.log),
	)
	if err != nil {
		return nil, fmt.Errorf("open broker folder %s: %w", f.dir, err)
	}
	return c, nil
}

// spokenVersions is what the broker speaks: everything stable, but no producing by topic id. Two unknown ids in one such
// request end the process.
func spokenVersions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.Produce), 12)
	return v
}

// close writes the state and says whether that went well, which the cluster only logs.
func (c *cluster) close() error {
	c.log.failed.Store(false)
	c.Cluster.Close()
	if c.log.failed.Load() {
		return errNotSaved
	}
	return nil
}
