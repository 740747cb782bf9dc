package e2e

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// terminal is a shell in a folder, as somebody has it who built the program there and runs it.
type terminal struct {
	t      *testing.T
	site   *site
	folder string
	proxy  *httptest.Server // stands where the process does, and notes what it answers

	mu      sync.Mutex
	answers []int
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(folder, "kuhnya")); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(folder, "kuhnya-data")
	auditAfter(t, data)
	p := start(t, serving("up", data, "--kafka-addr", "127.0.0.1:0")...)
	s := &terminal{t: t, folder: folder, site: &site{data: data, kitchen: p, board: p, tokens: newTokens(data)}}
	s.proxy = httptest.NewServer(s.forward())
	t.Cleanup(s.proxy.Close)
	return s
}

func (s *terminal) forward() http.Handler {
	target, err := url.Parse(s.site.kitchen.url)
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1 // streams
	proxy.ModifyResponse = func(r *http.Response) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers = append(s.answers, r.StatusCode)
		return nil
	}
	return proxy
}

// get reads a page as a browser gets it.
func (s *terminal) get(path string) string {
	s.t.Helper()
	request, err := http.NewRequest("GET", s.proxy.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	page := do(s.t, request).want(s.t, 200)
	s.took()
	return string(page.body)
}

// took returns the statuses that were answered since the last time.
func (s *terminal) took() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := s.answers
	s.answers = nil
	return answers
}

// run types the blocks one after the other, each once the one before has ended and all that it began has arrived.
func (s *terminal) run(blocks []block) {
	s.t.Helper()
	if len(blocks) == 0 {
		s.t.Fatal("no examples")
	}
	var out output
	typed, done := s.start(&out)
	defer typed.Close()
	for _, b := range blocks {
		from := out.len()
		_, _ = io.WriteString(typed, s.adapt(b.text)+"\necho >&4\n") // if it has ended, the next line says so
		ended := done.Scan()
		printed, _ := out.since(from)
		s.check(b, ended, s.took(), printed)
		s.site.settle(s.t)
	}
}

// adapt puts the addresses of this test in the place of those that people have.
func (s *terminal) adapt(text string) string {
	return strings.NewReplacer(
		"127.0.0.1:8080", s.proxy.Listener.Addr().String(), "127.0.0.1:9092", s.site.kafka(),
	).Replace(text)
}

// start starts the shell. It reads what is typed as its script, and ends a line on done after each block.
func (s *terminal) start(out *output) (typed *os.File, done *bufio.Scanner) {
	s.t.Helper()
	script, typed, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	lines, marks, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 4*patience)
	cmd := exec.CommandContext(ctx, "sh", "-eu", "/dev/fd/3")
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.folder, out, out
	cmd.ExtraFiles = []*os.File{script, marks}
	cmd.Env = append(program(ctx).Env, "KUHNYA_URL="+s.proxy.URL)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	script.Close()
	marks.Close()
	s.t.Cleanup(func() {
		typed.Close()
		_ = cmd.Wait() // each block was judged already
		lines.Close()
		cancel()
	})
	return typed, bufio.NewScanner(lines)
}

// check fails the test unless the block ended and its calls were answered as it says.
func (s *terminal) check(b block, ended bool, got []int, printed string) {
	s.t.Helper()
	if complaint := b.complaint(ended, got); complaint != "" {
		s.t.Fatalf("%s\n\n%s\nprinted\n%s", complaint, b.text, printed)
	}
}
