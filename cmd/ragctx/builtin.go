package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// strictBuiltins makes the commands that cobra adds reject unknown arguments, like all others.
// Cobra itself prints the help and exits with 0.
func strictBuiltins(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			group(cmd)
		case "help":
			cmd.RunE = help
		}
	}
}

// help prints the help of the named command.
func help(cmd *cobra.Command, args []string) error {
	at := cmd.Root()
	for _, name := range args {
		i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
		if i < 0 {
			return unknownCommand(at, name)
		}
		at = at.Commands()[i]
	}
	at.InitDefaultHelpFlag()
	at.InitDefaultVersionFlag()
	return at.Help()
}
