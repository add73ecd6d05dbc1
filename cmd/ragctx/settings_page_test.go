package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// tableOf returns the rows of a table of docs/cli.md, each as its columns.
func tableOf(t *testing.T, head string) (rows [][]string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(b), head+"\n")
	if !found {
		t.Fatalf("docs/cli.md has no table %q", head)
	}
	table, _, _ := strings.Cut(text, "\n\n")
	for row := range strings.Lines(table) {
		columns := strings.Split(row, "|")
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		rows = append(rows, columns[1:])
	}
	return rows
}

// pageLink is a link of Markdown, whose first group is its text.
var pageLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// TestSettingsPage compares the table of docs/cli.md with the settings: their order, groups, defaults and
// descriptions.
func TestSettingsPage(t *testing.T) {
	var listed, want []string
	group := ""
	for _, row := range tableOf(t, "| setting | default | what |")[1:] {
		plain := strings.ReplaceAll(pageLink.ReplaceAllString(strings.Join(row[:3], " | "), "$1"), "`", "")
		if name, isGroup := strings.CutPrefix(plain, "**"); isGroup {
			group, _, _ = strings.Cut(name, "**")
			continue
		}
		listed = append(listed, group+": "+plain)
	}
	for _, s := range allSettings() {
		want = append(want, strings.Join([]string{s.group + ": " + s.name, s.value(noEnv), s.help}, " | "))
	}
	if d := cmp.Diff(want, listed); d != "" {
		t.Errorf("the settings, and those of docs/cli.md:\n%s", d)
	}
}

// TestCommandsPage: each command stands in the table of docs/cli.md, with its group or by
// itself in the row of that.
func TestCommandsPage(t *testing.T) {
	rows := tableOf(t, "| command | what it does |")
	var look func(group string, cmd *cobra.Command)
	look = func(group string, cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			look(c.Name(), c)
		}
		if cmd.HasSubCommands() || cmd.Hidden {
			return
		}
		name := regexp.MustCompile("[` ]" + cmd.Name() + "[` ]")
		for _, row := range rows {
			if name.MatchString(row[0]) && strings.Contains(row[0], strings.TrimPrefix(group, "ragctx")) {
				return
			}
		}
		t.Errorf("docs/cli.md does not list %s", cmd.CommandPath())
	}
	look("ragctx", newRoot(os.LookupEnv))
}
