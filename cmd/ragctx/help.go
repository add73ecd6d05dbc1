package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the largest width of a line of help, and helpColumn the largest width of the names.
const (
	helpWidth  = 100
	helpColumn = 32
)

// groupAnnotation is the annotation of a flag that names its group in the help.
const groupAnnotation = "group"

// usage prints how a command is called, its examples, its commands and its flags in groups.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	} else {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	writeFlags(&b, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n'%s COMMAND --help' describes a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// writeCommands lists the commands of cmd in its groups.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, g := range groups {
		var rows [][2]string
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				rows = append(rows, [2]string{"  " + c.Name(), c.Short})
			}
		}
		writeHelp(b, g.Title, rows)
	}
}

// writeFlags lists the flags of cmd: its own, then those of settings in the order of the groups,
// the global ones last.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	_ = cmd.LocalFlags() // adds the inherited ones to cmd.Flags
	const own = "Flags"
	groups := map[string][][2]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			g := cmp.Or(strings.Join(f.Annotations[groupAnnotation], ""), own)
			groups[g] = append(groups[g], [2]string{flagNames(f), flagHelp(f)})
		}
	})
	order := []string{own}
	for _, s := range allSettings() {
		if s.group != globalSettings && s.group != order[len(order)-1] {
			order = append(order, s.group)
		}
	}
	for _, g := range append(order, globalSettings) {
		writeHelp(b, g+":", groups[g])
	}
}

// flagNames returns the names of a flag and the type of its value.
func flagNames(f *pflag.Flag) string {
	names := "      --" + f.Name
	if f.Shorthand != "" {
		names = "  -" + f.Shorthand + ", --" + f.Name
	}
	switch kind := f.Value.Type(); kind {
	case "bool":
		return names
	case "stringArray":
		return names + " string"
	case "stringSlice":
		return names + " list"
	case "float64", "float":
		return names + " number"
	case "int64":
		return names + " int"
	default:
		return names + " " + kind
	}
}

// flagHelp returns the description of a flag with its default. The defaults of settings are shown even
// where they are zero.
func flagHelp(f *pflag.Flag) string {
	preset := f.DefValue
	if f.Annotations[groupAnnotation] == nil && slices.Contains([]string{"false", "0", "0s", "[]", "-1"}, preset) {
		preset = ""
	}
	if preset == "" || strings.Contains(f.Usage, "default") {
		return f.Usage
	}
	return f.Usage + " (default " + preset + ")"
}

// writeHelp prints a heading and rows of names and descriptions, which it breaks into lines.
func writeHelp(b *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	column := 0
	for _, r := range rows {
		if n := len(r[0]); n <= helpColumn {
			column = max(column, n)
		}
	}
	fmt.Fprintf(b, "\n%s\n", title)
	indent := strings.Repeat(" ", column+2)
	for _, r := range rows {
		line := fmt.Sprintf("%-*s", len(indent), r[0])
		if len(r[0]) > column {
			b.WriteString(r[0] + "\n")
			line = indent
		}
		for word := range strings.FieldsSeq(r[1]) {
			if len(line)+len(word) > helpWidth && line != indent {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = indent
			}
			line += word + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
