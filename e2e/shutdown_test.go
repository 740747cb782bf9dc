package e2e

import (
	"bytes"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestShutdown(t *testing.T) {
	keep(t,
		promise{"a request that never ends is cut off and no failure", shutdownHalfRequest},
		promise{"a second signal quits at once", shutdownTwice},
		promise{"a step that is still to be sent is not forgotten", shutdownUnsentStep},
	)
}

// sendHalf sends an order without the end of its body, and returns once the server waits for that.
func (v *venue) sendHalf(t *testing.T) net.Conn {
	t.Helper()
	conn := v.alice.dial(t)
	t.Cleanup(func() { conn.Close() })
	request := v.alice.rawOrder(v.portions(0, 1), "Expect: 100-continue")
	body := bytes.Index(request, []byte("\r\n\r\n")) + len("\r\n\r\n")
	if _, err := conn.Write(request[:body]); err != nil {
		t.Fatal(err)
	}
	// The server asks for the body when it begins to read it.
	_ = conn.SetDeadline(time.Now().Add(patience))
	if answer, err := readLine(conn); err != nil || !strings.Contains(answer, "100 Continue") {
		t.Fatalf("answer %q, %v", answer, err)
	}
	if _, err := conn.Write(request[body : len(request)-2]); err != nil {
		t.Fatal(err)
	}
	return conn
}

func readLine(conn net.Conn) (string, error) {
	buffer := make([]byte, 256)
	n, err := conn.Read(buffer)
	return string(buffer[:n]), err
}

func shutdownHalfRequest(t *testing.T) {
	v := openVenue(t, soloSite(t), counted("pelmeni", 100))
	v.sendHalf(t)
	v.kitchen.stop(t)
	if text := v.kitchen.log.String(); strings.Contains(text, "work left") {
		t.Errorf("nothing was left to do, but the log says so:\n%s", tail(text))
	}
	v.kitchen.restart(t)
	v.wantStock(t, 0, 100)
}

func shutdownTwice(t *testing.T) {
	v := openVenue(t, soloSite(t), counted("pelmeni", 100))
	v.sendHalf(t) // keeps the process from ending before the second signal
	p := v.kitchen
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "the process is stopping", func() bool { return strings.Contains(p.log.String(), "once more to quit") })
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	p.restart(t)
	v.awaitTicket(t, v.placed(t, v.portions(0, 1)).ID)
}

// shutdownUnsentStep stops the process before the sweep sends the step of a press that failed.
func shutdownUnsentStep(t *testing.T) {
	v, id := newOutage(t, "--republish-after", "7s")
	v.wantUnpublished(t, id, "accept", "accepted")
	v.broker.restart(t)
	v.kitchen.stop(t)
	left := audit("--data", v.data, "--kafka-brokers", v.kafka())
	if left != nil && !strings.Contains(v.kitchen.log.String(), "work left") {
		t.Errorf("stopped as if nothing were left: %v", left)
	}
	v.kitchen.restart(t)
	v.awaitOrder(t, id, "accepted")
	v.wantHistory(t, id, "placed accepted")
}
