package main

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	gocmp "github.com/google/go-cmp/cmp"
)

// TestOperations keeps the tables of docs/OPERATIONS.md equal to what the program takes: each flag with its variable,
// its default and the commands that have it, and each command.
func TestOperations(t *testing.T) {
	content, err := os.ReadFile("../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	parser, err := kong.New(&cli{}, options...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(declared(parser.Model), documented(t, text)); diff != "" {
		t.Errorf("flags (-program +document):\n%s", diff)
	}
	for _, command := range parser.Model.Leaves(true) {
		if !strings.Contains(text, "\n| `"+command.FullPath()+"` |") {
			t.Errorf("no row of %s", command.FullPath())
		}
	}
}

// flagRow is a row of the table of settings, without its explanation.
type flagRow struct{ Flag, Variable, Default, Commands string }

// declared are the rows that the program's flags come to. A flag that has the same default in several commands has one.
func declared(model *kong.Application) (rows []flagRow) {
	index := map[[2]string]int{}
	for _, command := range model.Leaves(true) {
		for _, flag := range slices.Concat(command.AllFlags(true)...) {
			if flag.Name == "help" {
				continue
			}
			row := flagRow{Flag: "`--" + flag.Name + "`", Variable: "`" + strings.Join(flag.Envs, "`, `") + "`", Default: "–"}
			if flag.Default != "" {
				row.Default = "`" + flag.Default + "`"
			}
			i, known := index[[2]string{row.Flag, row.Default}]
			if !known {
				i = len(rows)
				index[[2]string{row.Flag, row.Default}] = i
				rows = append(rows, row)
			}
			rows[i].Commands += ", `" + command.Path() + "`"
		}
	}
	for i := range rows {
		rows[i].Commands = strings.TrimPrefix(rows[i].Commands, ", ")
	}
	return sorted(rows)
}

var settingsRow = regexp.MustCompile("(?m)^\\| (`--[^|]+`) \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\| (.+) \\|$")

func documented(t *testing.T, text string) (rows []flagRow) {
	t.Helper()
	for _, cells := range settingsRow.FindAllStringSubmatch(text, -1) {
		rows = append(rows, flagRow{cells[1], cells[2], cells[3], cells[4]})
	}
	return sorted(rows)
}

func sorted(rows []flagRow) []flagRow {
	slices.SortFunc(rows, func(a, b flagRow) int { return cmp.Or(cmp.Compare(a.Flag, b.Flag), cmp.Compare(a.Default, b.Default)) })
	return rows
}
