package e2e

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// site is where a test's services run: processes on one data folder and one broker. In most sites kitchen, board and
// bonus are the same process.
type site struct {
	data    string
	kitchen *process // answers for establishments, menus and orders
	board   *process // answers for tickets
	bonus   *process // answers for bonuses, wallets and campaigns
	broker  *process // nil where the broker is embedded in kitchen
	tokens  *tokens
}

func newSite(data string) *site { return &site{data: data, tokens: newTokens(data)} }

// inOne has one process answer for everything.
func (s *site) inOne(p *process) *site {
	s.kitchen, s.board, s.bonus = p, p, p
	return s
}

// kafka is the address of the site's broker.
func (s *site) kafka() string {
	if s.broker != nil {
		return s.broker.kafka
	}
	return s.kitchen.kafka
}

// sharedSite is one process with everything, for tests that neither stop nor kill it.
func sharedSite(t testing.TB) *site {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var shared = sync.OnceValues(func() (*site, error) {
	sharedStarted = true
	data, err := os.MkdirTemp("", "kuhnya-e2e-data-")
	if err != nil {
		return nil, err
	}
	p := &process{args: serving("up", data, "--kafka-addr", "127.0.0.1:0")}
	return newSite(data).inOne(p), p.launch()
})

var sharedStarted bool

// endShared stops the shared site and audits what all its tests left.
func endShared(failed bool) error {
	if !sharedStarted {
		return nil
	}
	s, err := shared()
	if s == nil {
		return err
	}
	defer os.RemoveAll(s.data)
	if err == nil {
		err = errors.Join(s.kitchen.end(), audit("--data", s.data))
	}
	if failed || err != nil {
		fmt.Fprintf(os.Stderr, "log of the shared process:\n%s\n", tail(s.kitchen.log.String()))
	}
	return err
}

// soloSite is one process with everything, of one test. Its data is audited when the test ends.
func soloSite(t testing.TB, more ...string) *site {
	t.Helper()
	data := t.TempDir()
	auditAfter(t, data)
	p := start(t, serving("up", data, more...)...)
	return newSite(data).inOne(p)
}

// brokerSite has the broker in a process of its own, which may be stopped and restarted.
func brokerSite(t testing.TB, more ...string) *site {
	t.Helper()
	s := onBroker(t)
	s.inOne(start(t, s.serve(more...)...))
	t.Cleanup(func() { s.settle(t) })
	return s
}

// splitSite has the broker and each service in a process of its own.
func splitSite(t testing.TB) *site {
	t.Helper()
	s := onBroker(t)
	s.kitchen = start(t, s.serve("kitchen")...)
	s.board = start(t, s.serve("establishment")...)
	s.bonus = start(t, s.serve("bonus")...)
	t.Cleanup(func() { s.settle(t) })
	return s
}

// twinSites are two processes with everything on the same database and broker.
func twinSites(t testing.TB) [2]*site {
	t.Helper()
	first := brokerSite(t)
	second := *first
	second.inOne(start(t, first.serve()...))
	t.Cleanup(func() { first.settle(t) })
	return [2]*site{first, &second}
}

func onBroker(t testing.TB) *site {
	t.Helper()
	data := t.TempDir()
	auditAfter(t, data)
	broker := start(t, "broker", "--data", data, "--kafka-addr", fixedAddr(t))
	s := newSite(data)
	s.broker = broker
	return s
}

// serve is the command line of one process of the site: its services, and flags of its own.
func (s *site) serve(more ...string) []string {
	return append(serving("serve", s.data, "--kafka-brokers", s.kafka()), more...)
}

func serving(command, data string, more ...string) []string {
	return append([]string{command, "--data", data, "--addr", "127.0.0.1:0"}, more...)
}

// settle waits until nothing is on its way between the processes, while all of them run.
func (s *site) settle(t testing.TB) {
	t.Helper()
	if t.Failed() {
		return
	}
	eventually(t, "a clean audit at rest", func() bool {
		r := command(t, "audit", "--at-rest", "--data", s.data, "--kafka-brokers", s.kafka())
		if r.code != 0 && r.code != 3 {
			t.Fatalf("audit: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		return r.code == 0
	})
}

// auditAfter audits a data folder after all processes that the test starts from now on have ended.
func auditAfter(t testing.TB, data string) {
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if err := audit("--data", data); err != nil {
			t.Error(err)
		}
	})
}

// audit checks a data folder whose processes have stopped.
func audit(args ...string) error {
	r, err := tryCommand(append([]string{"audit", "--at-rest"}, args...)...)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("audit: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	return err
}
