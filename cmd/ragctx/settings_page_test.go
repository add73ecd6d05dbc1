package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

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

// TestSettingsPage compares the table of docs/cli.md with the settings that there are, and
// with their defaults.
func TestSettingsPage(t *testing.T) {
	listed := make(map[string]string)
	for _, row := range tableOf(t, "| setting | default | what |") {
		if strings.HasPrefix(row[0], "`") {
			listed[strings.Trim(row[0], "`")] = strings.Trim(row[1], "`")
		}
	}
	for _, s := range allSettings() {
		preset, ok := listed[s.name]
		if !ok {
			t.Errorf("docs/cli.md does not list the setting %s", s.name)
		}
		if want := s.value(func(string) (string, bool) { return "", false }); preset != want {
			t.Errorf("docs/cli.md has %q as the default of %s, which is %q", preset, s.name, want)
		}
		delete(listed, s.name)
	}
	for name := range listed {
		t.Errorf("docs/cli.md lists the setting %s, which does not exist", name)
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
