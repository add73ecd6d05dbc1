package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCompletionTables: what is completed exists, by the names that the tables use.
func TestCompletionTables(t *testing.T) {
	env := func(string) (string, bool) { return "", false }
	flags, commands := make(map[string]bool), make(map[string]bool)
	var walk func(cmd *cobra.Command, name string)
	walk = func(cmd *cobra.Command, name string) {
		commands[name] = true
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			flags[f.Name], flags[name+" "+f.Name] = true, true
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok {
				t.Errorf("%s --%s is completed by files", cmd.CommandPath(), f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			walk(c, strings.TrimSpace(name+" "+c.Name()))
		}
	}
	walk(newRoot(env), "")
	for name := range flagCompletions(env) {
		if !flags[name] && !slices.ContainsFunc(allSettings(), func(s setting) bool { return flagName(s.name) == name }) {
			t.Errorf("there is no flag %s", name)
		}
	}
	for name := range arguments(env) {
		if !commands[name] {
			t.Errorf("there is no command %s", name)
		}
	}
	for _, name := range repeated {
		if !commands[name] {
			t.Errorf("there is no command %s", name)
		}
	}
}
