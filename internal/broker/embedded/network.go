package embedded

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

// memoryAddr is where the broker listens in memory, as far as anybody there looks at addresses.
var memoryAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092}

// network is the way to the cluster that runs at the moment. Connections made through it survive as values while the
// cluster is stopped and started; until then dialling is refused as TCP would refuse it.
type network struct {
	mu      sync.Mutex
	current *kfake.VirtualNetwork
}

func (n *network) use(v *kfake.VirtualNetwork) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.current = v
}

// dial ignores the address: there is one broker, and the address that it advertises is meant for other processes.
func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	current := n.current
	n.mu.Unlock()
	if current == nil {
		return nil, refused()
	}
	conn, err := current.DialContext(ctx, "tcp", memoryAddr.String())
	if err != nil && ctx.Err() == nil {
		return nil, refused()
	}
	return conn, err
}

func refused() error {
	return &net.OpError{Op: "dial", Net: "memory", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// advertised is a listener that reports another address than it listens on. The broker tells clients to come back to
// the address of its listener, and those of other processes must come to the TCP port.
type advertised struct {
	net.Listener
	addr net.Addr
}

func (a advertised) Addr() net.Addr { return a.addr }
