package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestAuditTraffic(t *testing.T) {
	keep(t,
		promise{"orders on their way are never taken for violations", auditUnderTraffic},
		promise{"what another broker serves is not at rest, and nothing is made", auditWithoutBrokers},
		promise{"another prefix is not at rest, and no topic is made", auditOtherPrefix},
	)
}

// trafficAudits is how often the services are compared while orders move.
const trafficAudits = 40

// auditUnderTraffic compares while one order after the other moves: in between the services rest for moments, which is
// when an audit comes furthest. It asks the broker and the process by turns.
func auditUnderTraffic(t *testing.T) {
	s := soloSite(t, "--kafka-addr", "127.0.0.1:0")
	v := openVenue(t, s, counted("pelmeni", 1_000_000))
	stop := make(chan struct{})
	var traffic sync.WaitGroup
	traffic.Go(func() {
		for !closed(stop) {
			v.carry(t)
		}
	})
	codes := map[int]int{}
	for i := range trafficAudits {
		from := [][]string{{"--kafka-brokers", s.kafka()}, {"--url", s.kitchen.url}}[i%2]
		r := command(t, append([]string{"audit", "--at-rest", "--data", s.data}, from...)...)
		if codes[r.code]++; r.code != 0 && r.code != 3 {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	close(stop)
	traffic.Wait()
	t.Logf("audits by exit code: %v", codes)
	s.settle(t)
}

// carry takes one order from placing to its end, and waits after each step until both services know, and in the end until
// bonus has decided.
func (v *venue) carry(t *testing.T) {
	id := into[order](t, v.alice.send(t, "POST", "/v1/orders", v.portions(0, 1))).ID
	v.awaitTicket(t, id)
	for _, b := range buttons {
		v.cook.press(t, id, b.action)
		v.awaitOrder(t, id, b.status)
	}
	v.earned(t, id)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// auditWithoutBrokers audits a folder whose services have their broker elsewhere.
func auditWithoutBrokers(t *testing.T) {
	broker := start(t, "broker", "--data", t.TempDir(), "--kafka-addr", fixedAddr(t))
	data := t.TempDir()
	start(t, serving("serve", data, "--kafka-brokers", broker.kafka)...)
	wantNotAtRest(t, "--kafka-brokers", "--data", data)
	if _, err := os.Stat(filepath.Join(data, "broker")); !os.IsNotExist(err) {
		t.Errorf("a broker folder has come to be: %v", err)
	}
}

func auditOtherPrefix(t *testing.T) {
	s := soloSite(t, "--kafka-addr", "127.0.0.1:0")
	wantNotAtRest(t, "--topic-prefix", "--data", s.data, "--kafka-brokers", s.kafka(), "--topic-prefix", "other.")
	topics, err := s.bus(t).admin.ListTopics(withPatience(t))
	if err != nil {
		t.Fatal(err)
	}
	s.kitchen.stop(t)
	wantNotAtRest(t, "--topic-prefix", "--data", s.data, "--topic-prefix", "other.")
	s.kitchen.restart(t)
	after, err := s.bus(t).admin.ListTopics(withPatience(t))
	if err != nil {
		t.Fatal(err)
	}
	if before, after := strings.Join(topics.Names(), " "), strings.Join(after.Names(), " "); after != before || strings.Contains(after, "other.") {
		t.Errorf("topics %s, before %s", after, before)
	}
}

// wantNotAtRest compares, and is told once that it can't be done now and which flag would help.
func wantNotAtRest(t *testing.T, says string, args ...string) {
	t.Helper()
	r := command(t, append([]string{"audit", "--at-rest"}, args...)...)
	if r.code != 3 || strings.Count(r.stderr, "not at rest") != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, says) {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}
