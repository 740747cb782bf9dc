package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a kuhnya that serves, and what it takes to start it again.
type process struct {
	args    []string
	url     string // of its HTTP API; a restart may change it
	kafka   string // where its embedded broker listens, "" if it doesn't
	metrics string // where it shows metrics, "" if it doesn't
	log     output

	cmd   *exec.Cmd
	ended chan struct{} // closed after the process ended
}

// start runs a command that serves, on --data and whatever else args say, until it is ready. When the test ends the
// process is stopped if it still runs; its log is shown if the test failed.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	p := &process{args: args}
	t.Cleanup(func() { p.finish(t) })
	if err := p.launch(); err != nil {
		t.Fatal(err)
	}
	return p
}

var readyLine = regexp.MustCompile(`(?m)^kuhnya: (?:ready on (http://\S+?)(?:, broker on (\S+?))?|broker ready on (\S+?))(?:, metrics on (\S+))?$`)

func (p *process) launch() error {
	from := p.log.len()
	p.cmd = program(context.Background(), p.args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	cmd, ended := p.cmd, make(chan struct{})
	p.ended = ended
	go func() {
		_ = cmd.Wait() // the state of the process says how it ended
		close(ended)
	}()
	return p.awaitReady(from)
}

func (p *process) awaitReady(from int) error {
	timeout := time.After(patience)
	for {
		text, grown := p.log.since(from)
		if m := readyLine.FindStringSubmatch(text); m != nil {
			p.url, p.kafka, p.metrics = m[1], m[2]+m[3], m[4]
			return nil
		}
		select {
		case <-grown:
		case <-p.ended:
			return fmt.Errorf("kuhnya %v: ended before it was ready: %v\n%s", p.args, p.cmd.ProcessState, &p.log)
		case <-timeout:
			return fmt.Errorf("kuhnya %v: not ready\n%s", p.args, &p.log)
		}
	}
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop ends the process in good order.
func (p *process) stop(t testing.TB) {
	t.Helper()
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

// end asks the process to stop and waits until it has; another exit code than 0 is an error.
func (p *process) end() error {
	if !p.running() {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		return fmt.Errorf("kuhnya %v: did not stop", p.args)
	}
	return errors.Join(p.exit(), p.sane())
}

func (p *process) exit() error {
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("kuhnya %v: stopped with exit code %d", p.args, code)
	}
	return nil
}

// sane looks for what must never stand in a log.
func (p *process) sane() error {
	for _, shout := range []string{"WARNING: DATA RACE", "panic:", "goroutine 1 ["} {
		if strings.Contains(p.log.String(), shout) {
			return fmt.Errorf("kuhnya %v: %q in its log", p.args, shout)
		}
	}
	return nil
}

// kill ends the process as a power failure does.
func (p *process) kill(t testing.TB) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.ended
	if err := p.sane(); err != nil {
		t.Error(err)
	}
}

// restart starts the process again after it ended, as it was started before.
func (p *process) restart(t testing.TB) {
	t.Helper()
	if p.running() {
		t.Fatalf("kuhnya %v: still runs", p.args)
	}
	if err := p.launch(); err != nil {
		t.Fatal(err)
	}
}

func (p *process) finish(t testing.TB) {
	if p.ended != nil {
		p.stop(t)
	}
	if t.Failed() {
		t.Logf("log of kuhnya %v:\n%s", p.args, tail(p.log.String()))
	}
}

const logTail = 20_000 // bytes

func tail(s string) string {
	if len(s) > logTail {
		return "…" + s[len(s)-logTail:]
	}
	return s
}

// fixedAddr is a free loopback address, apart from those that the system hands out: a process that listens there finds
// it free again when it is restarted.
func fixedAddr(t testing.TB) string {
	t.Helper()
	for {
		addr := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000))
		listener, err := net.Listen("tcp", addr)
		if errors.Is(err, os.ErrPermission) {
			t.Fatal(err)
		}
		if err == nil {
			listener.Close()
			return addr
		}
	}
}

// output collects what a process writes, and tells that there is more.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.grown != nil {
		close(o.grown)
		o.grown = nil
	}
	return o.text.Write(b)
}

// since returns what was written after the first from bytes, and a channel that is closed when more is.
func (o *output) since(from int) (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.grown == nil {
		o.grown = make(chan struct{})
	}
	return string(o.text.Bytes()[from:]), o.grown
}

func (o *output) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Len()
}

func (o *output) String() string {
	text, _ := o.since(0)
	return text
}
