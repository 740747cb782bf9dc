package e2e

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestExamples runs what the documents tell people to type: each document's examples in their order, in one shell, with
// curl, against a process with demo data of their own. Only the address is another. A comment that begins with a status
// says what the calls of its block answer, in order, as in
//
//	curl -s $url/v1/orders …   # 409 out_of_stock
//
// and a block without any must succeed. Between blocks everything that is on its way arrives, as it does while people read.
//
// In README.md every block of the language sh is an example, in docs/*.md those marked as "sh run", and on /docs those
// that the page shows as such.
func TestExamples(t *testing.T) {
	needCurl(t)
	var all []promise
	for _, path := range append(docs(t), "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks := markdownBlocks(string(text), strings.HasSuffix(path, "README.md"))
		if len(blocks) > 0 {
			all = append(all, promise{"of " + filepath.Base(path), func(t *testing.T) { newTerminal(t).run(blocks) }})
		}
	}
	all = append(all, promise{"of the page /docs", func(t *testing.T) {
		s := newTerminal(t)
		s.run(pageBlocks(s.get("/docs")))
	}})
	keep(t, all...)
}

// TestExampleBlocks shows that the test of the examples sees them, and what they say.
func TestExampleBlocks(t *testing.T) {
	const text = "```sh\ncurl a # 201, then 200\n```\n```\nHTTP/1.1 200 OK\n```\n```json\n{}\n```\n```sh run\ncurl b # not 999\n```\n"
	all, marked := markdownBlocks(text, true), markdownBlocks(text, false)
	if len(all) != 2 || all[0].ends != 200 || !slices.Equal(all[0].statuses(), []int{201, 200}) || len(all[1].statuses()) != 0 {
		t.Errorf("%+v", all)
	}
	if len(marked) != 1 || marked[0] != all[1] {
		t.Errorf("marked: %+v", marked)
	}
	page := pageBlocks(`<pre class="example"><code class="language-sh">a &gt; b   <span class="note"># 204</span></code></pre><pre><code>c</code></pre>`)
	if len(page) != 1 || page[0].text != "a > b   # 204\n" {
		t.Errorf("page: %+v", page)
	}
	for _, c := range []struct {
		b     block
		ended bool
		got   []int
		fine  bool
	}{
		{all[0], true, []int{201, 200}, true},
		{all[0], true, []int{200, 200}, false},
		{all[0], true, []int{201}, false},
		{all[0], false, []int{201, 200}, false},
		{block{text: "curl"}, true, []int{200}, true},
		{block{text: "curl"}, true, []int{404}, false},
		{block{text: "curl", ends: 204}, true, []int{200, 204}, true},
		{block{text: "curl", ends: 204}, true, nil, false},
	} {
		if complaint := c.b.complaint(c.ended, c.got); (complaint == "") != c.fine {
			t.Errorf("%q, ended %v, %v: %q", c.b.text, c.ended, c.got, complaint)
		}
	}
}

func docs(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// needCurl skips the test where there is no curl, but never where the result decides.
func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("curl is not installed, so nothing shows that the examples work")
	}
	t.Skip("SKIPPED: curl is not installed, so nothing shows that the examples work")
}

// block is an example as it stands in a document.
type block struct {
	text string
	ends int // the status that an answer shown after it begins with, 0 if none is
}

var (
	fence  = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```")
	figure = regexp.MustCompile(`(?s)<pre class="example"><code class="language-sh">(.*?)</code></pre>`)
	tag    = regexp.MustCompile(`<[^>]*>`)
	answer = regexp.MustCompile(`^HTTP/1\.1 (\d{3})`)
)

func markdownBlocks(text string, all bool) (blocks []block) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		language, body := m[1], m[2]
		if language == "sh run" || language == "sh" && all {
			blocks = append(blocks, block{text: body})
		}
		if shown := answer.FindStringSubmatch(body); shown != nil && language == "" && len(blocks) > 0 {
			blocks[len(blocks)-1].ends, _ = strconv.Atoi(shown[1])
		}
	}
	return blocks
}

func pageBlocks(page string) (blocks []block) {
	for _, m := range figure.FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, block{text: html.UnescapeString(tag.ReplaceAllString(m[1], "")) + "\n"})
	}
	return blocks
}

var (
	promised = regexp.MustCompile(`(?m)(?:^|\s)# ([1-5]\d\d\b.*)$`)
	number   = regexp.MustCompile(`\b[1-5]\d\d\b`)
)

// statuses are those that the comments of a block name.
func (b block) statuses() (list []int) {
	for _, m := range promised.FindAllStringSubmatch(b.text, -1) {
		for _, n := range number.FindAllString(m[1], -1) {
			status, _ := strconv.Atoi(n)
			list = append(list, status)
		}
	}
	return list
}

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
	page := do(request).want(s.t, 200)
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

func (b block) complaint(ended bool, got []int) string {
	want := b.statuses()
	refused := slices.ContainsFunc(got, func(status int) bool { return status >= 400 })
	switch {
	case !ended:
		return "an example failed"
	case len(want) > 0 && !slices.Equal(got, want):
		return fmt.Sprintf("answers %v, the example says %v", got, want)
	case len(want) == 0 && refused:
		return fmt.Sprintf("answers %v, and the example doesn't say so", got)
	case b.ends > 0 && (len(got) == 0 || got[len(got)-1] != b.ends):
		return fmt.Sprintf("answers %v, the answer shown after it is %d", got, b.ends)
	}
	return ""
}
