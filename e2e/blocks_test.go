package e2e

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

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
