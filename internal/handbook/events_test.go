package handbook_test

import (
	"bytes"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tags    = regexp.MustCompile(`<[^>]*>`)
	fence   = regexp.MustCompile("(?s)```[a-z ]*\n(.*?)```")
	unshown = regexp.MustCompile("(?m)^```[a-z ]*$|\\]\\([^)]*\\)") // the languages of blocks, and where links lead
	words   = regexp.MustCompile(`[\p{L}\p{N}]+`)
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
)

// TestEvents_shows_all_of_the_document: the words of docs/EVENTS.md are on the page, in their order, and its examples as
// they are. Whether the document tells the truth is tested beside the code of the events.
func TestEvents_shows_all_of_the_document(t *testing.T) {
	source, err := os.ReadFile("../../docs/EVENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	page := get(t, "/docs/events").Body.String()
	_, page, _ = strings.Cut(page, "<h1>")
	shown := html.UnescapeString(tags.ReplaceAllString(page, ""))
	for _, block := range fence.FindAllStringSubmatch(string(source), -1) {
		if !strings.Contains(shown, block[1]) {
			t.Errorf("not as it is: %s", block[1])
		}
	}
	for _, title := range heading.FindAllStringSubmatch(string(source), -1) {
		if text := strings.ReplaceAll(title[1], "`", ""); strings.Count(page, ">"+text+"<") == 0 {
			t.Errorf("no chapter %s", text)
		}
	}
	rest := words.FindAllString(shown, -1)
	for _, word := range words.FindAllString(unshown.ReplaceAllString(string(source), " "), -1) {
		at := slices.Index(rest, word)
		if at < 0 {
			t.Fatalf("%q is not where it should be", word)
		}
		rest = rest[at+1:]
	}
}

func TestEvents_leads_to_what_is_served_only(t *testing.T) {
	page := get(t, "/docs/events").Body.String()
	for _, part := range []string{`href="/asyncapi.yaml"`, "(https://cloudevents.io)", "(OPERATIONS.md in the source)"} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s", part)
		}
	}
	if !strings.Contains(get(t, "/docs").Body.String(), `href="/docs/events"`) {
		t.Error("/docs does not lead there")
	}
}

func TestAsyncAPI_is_served_as_it_is(t *testing.T) {
	source, err := os.ReadFile("../../api/asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := get(t, "/asyncapi.yaml")
	if w.Header().Get("Content-Type") != "application/vnd.aai.asyncapi+yaml" || !bytes.Equal(w.Body.Bytes(), source) {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
