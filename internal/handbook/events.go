package handbook

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"kuhnya/api"
	"kuhnya/docs"
)

// asyncAPI describes the events for programs; it is served as it is.
var asyncAPI = api.AsyncAPI

// article is a document of the source, laid out as a page.
type article struct {
	Title    template.HTML
	Intro    template.HTML // before the first chapter
	Chapters []chapter
}

type chapter struct {
	ID    string
	Title template.HTML
	Text  template.HTML
}

// newEvents lays docs/EVENTS.md out. Its tests compare it with the code, so the page needs none of that.
func newEvents() article { return newArticle(docs.Events) }

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

func newArticle(source []byte) (a article) {
	document := markdown.Parser().Parse(text.NewReader(source))
	rewriteLinks(document)
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		switch {
		case ok && heading.Level == 1:
			a.Title = layInside(source, heading)
		case ok && heading.Level == 2:
			id, _ := heading.AttributeString("id")
			a.Chapters = append(a.Chapters, chapter{ID: string(id.([]byte)), Title: layInside(source, heading)})
		default:
			part := a.last()
			*part += layOut(source, node)
		}
	}
	return a
}

// last is the text that is being laid out.
func (a *article) last() *template.HTML {
	if n := len(a.Chapters); n > 0 {
		return &a.Chapters[n-1].Text
	}
	return &a.Intro
}

// layOut escapes what is HTML in the source: goldmark leaves it out unless told otherwise.
func layOut(source []byte, node ast.Node) template.HTML {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, node); err != nil {
		panic(fmt.Errorf("lay out a document: %w", err)) // built in
	}
	return template.HTML(b.String())
}

func layInside(source []byte, node ast.Node) (inside template.HTML) {
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		inside += layOut(source, child)
	}
	return inside
}

// servedAs are the files that documents link to and where the process has them.
var servedAs = map[string]string{"../api/asyncapi.yaml": "/asyncapi.yaml"}

// rewriteLinks keeps links within the page and those to what is served. Of any other the text stays, and behind it where
// it leads: pages lead nowhere else.
func rewriteLinks(document ast.Node) {
	var elsewhere []*ast.Link
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := node.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		to := string(link.Destination)
		if path, ok := servedAs[to]; ok {
			link.Destination = []byte(path)
		} else if !strings.HasPrefix(to, "#") {
			elsewhere = append(elsewhere, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range elsewhere {
		unlink(link)
	}
}

func unlink(link *ast.Link) {
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child)
	}
	where := " in the source"
	if to := string(link.Destination); strings.Contains(to, "://") {
		where = " (" + to + ")"
	}
	parent.ReplaceChild(parent, link, ast.NewString([]byte(where)))
}
