package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/template"

	"kuhnya/internal/app"
)

type upCmd struct{ serveFlags }

// Run serves everything with demo data and says how to try it, unless programs read what it says.
func (c *upCmd) Run(ctx context.Context) error {
	config := c.config(nil)
	config.Demo = true
	return serve(ctx, config, func(a *app.App) {
		if c.LogFormat != "json" {
			greet(a, c.Data)
		}
	})
}

var greeting = template.Must(template.New("greeting").Parse(`
Documentation: {{.URL}}/docs
Try in another terminal: read a menu, order two portions, look at the board, and at the points of completed orders.

curl -sw "\n" {{.URL}}/v1/establishments/{{.Place.ID}}/menu
curl -sw "\n" {{.URL}}/v1/orders -H "Authorization: Bearer $({{.Token}} --subject alice --role customer)" -H "Idempotency-Key: first-try" -H "Content-Type: application/json" -d '{"establishment_id":"{{.Place.ID}}","lines":[{"dish_id":"{{.Dish.ID}}","quantity":2}]}'
curl -sw "\n" {{.URL}}/v1/tickets -H "Authorization: Bearer $({{.Token}} --subject {{.Place.Staff}} --role staff --establishment {{.Place.ID}})"
curl -sw "\n" {{.URL}}/v1/wallet -H "Authorization: Bearer $({{.Token}} --subject alice --role customer)"

`))

func greet(a *app.App, data string) {
	place := app.Demo[0]
	err := greeting.Execute(os.Stderr, map[string]any{
		"URL": a.URL(), "Place": place, "Dish": place.Menu[0],
		"Token": fmt.Sprintf("%s token --data %s", quote(self()), quote(data)),
	})
	if err != nil {
		panic(err) // the template is part of the program
	}
}

// self is the path of this program, so that what is printed works from any folder.
func self() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// quote makes a word safe to paste into a shell.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
