package handbook

import (
	"embed"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"kuhnya/internal/httpapi"
)

//go:embed examples
var examples embed.FS

// example shows the commands of a file as they are; a test takes them from the page and runs them.
func example(name string) (template.HTML, error) {
	text, err := examples.ReadFile("examples/" + name + ".sh")
	if err != nil {
		return "", err
	}
	shown := comment.ReplaceAllString(template.HTMLEscapeString(strings.TrimSpace(string(text))), `<span class="note">$0</span>`)
	return template.HTML(fmt.Sprintf(`<pre class="example"><code class="language-sh">%s</code></pre>`, shown)), nil
}

// comment is a comment of a shell script, at the beginning of a line or after a blank.
var comment = regexp.MustCompile(`(?m)(?:^| )# .*$`)

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	slugs  = slugsByCode()
)

func slugsByCode() map[string]string {
	m := map[string]string{}
	for _, k := range httpapi.Kinds() {
		m[string(k.Code)] = k.Slug()
	}
	return m
}

// prose turns text with `code` in it into HTML. The code of a problem becomes a link to its page.
func prose(text string) template.HTML {
	return template.HTML(quoted.ReplaceAllStringFunc(template.HTMLEscapeString(text), func(match string) string {
		word := strings.Trim(match, "`")
		if slug, ok := slugs[word]; ok {
			return `<a href="/problems/` + slug + `"><code>` + word + `</code></a>`
		}
		return "<code>" + word + "</code>"
	}))
}
