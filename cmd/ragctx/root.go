package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
)

// lookupEnv is os.LookupEnv or a stand-in.
type lookupEnv func(string) (string, bool)

const rootHelp = `ragctx answers one question for an agent: which context should a model see for this query
within this token budget?

It ingests documents, remembers conversations, searches by keywords and by vectors, and fits
the best items into the budget. All data stays in one data directory on this machine. ragctx
sends data only to the services and providers that you name. It fetches only pages whose
URLs you name.`

const rootExample = `  # ask a folder of documents, in one go
  ragctx query --docs ./docs "how do I roll back a release?"

  # serve the REST API, with that folder ingested in the background
  ragctx serve --docs ./docs

  # remember something, then ask for it
  ragctx remember "Releases are frozen on Fridays." --type semantic
  ragctx query "can I release today?"`

const developmentGroup = "Development"

// commandGroups are the commands in the groups of the help.
var commandGroups = []struct {
	title    string
	commands []func(lookupEnv) *cobra.Command
}{
	{"Ask", []func(lookupEnv) *cobra.Command{newQuery, newSearch, newAssemble, newExplain}},
	{"Documents", []func(lookupEnv) *cobra.Command{newIngest, newImport, newDocs}},
	{"Memories", []func(lookupEnv) *cobra.Command{newRemember, newMemory, newProcedures}},
	{"Conversations", []func(lookupEnv) *cobra.Command{newSessions, newLedger, newPack}},
	{"Server", []func(lookupEnv) *cobra.Command{newServe, newMCP, newStatus, newEvents, newJobs, newAPI}},
	{"Administration", []func(lookupEnv) *cobra.Command{
		newConfig, newKeys, newNamespaces, newDoctor, newReembed, newSnapshot, newRestore,
	}},
	{developmentGroup, []func(lookupEnv) *cobra.Command{newBench, newEval, newOpenAPI, newVersion}},
}

func newRoot(env lookupEnv) *cobra.Command {
	root := &cobra.Command{
		Use:           "ragctx",
		Short:         "The context engine for agents",
		Long:          rootHelp,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       thisBuild().name(), // cobra prints it; a template would link text/template, see docs/decisions/build.md
	}
	group(root)
	root.SetUsageFunc(usage)
	root.SetGlobalNormalizationFunc(oneSpelling)
	flags := root.PersistentFlags()
	flags.String("config", "", "settings file (default is shown by 'ragctx config path')")
	flags.Bool("global", false, "use the data directory of the user, even inside a project")
	for _, name := range []string{"config", "global"} {
		flags.Lookup(name).Annotations = map[string][]string{groupAnnotation: {globalSettings}}
	}
	addSettings(flags, "data", "store", "index", "acknowledge", "namespace", "offline", "log_level", "log_format")
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, command := range g.commands {
			cmd := command(env)
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID(developmentGroup)
	root.SetCompletionCommandGroupID(developmentGroup)
	root.AddCommand(newExtractWorker(env)) // hidden
	for _, group := range root.Commands() {
		for _, cmd := range group.Commands() {
			if cmd.Name() == "delete" {
				cmd.Aliases = append(cmd.Aliases, "rm", "forget")
			}
		}
	}
	completed(root, env)
	return root
}

// group makes cmd a group of commands: alone it prints its help, and an unknown command is a usage
// error.
func group(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// unknownCommand returns the error about a command that parent does not have.
func unknownCommand(parent *cobra.Command, name string) error {
	if now := replacement(parent, name); now != "" {
		return badUsage("unknown command %q; use %s", ragctx.Clip(name), now)
	}
	parent.SuggestionsMinimumDistance = 2 // cobra's default
	near := parent.SuggestionsFor(name)
	if len(near) == 0 { // the name may be a command of another group
		for _, c := range parent.Root().Commands() {
			for _, sub := range c.Commands() {
				if sub.Name() == name || sub.HasAlias(name) {
					near = append(near, c.Name()+" "+sub.Name())
				}
			}
		}
	}
	return badUsage("unknown command %q%s", ragctx.Clip(name), didYouMean(near))
}

// didYouMean returns the end of an error message that suggests names.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return `; did you mean "` + strings.Join(names[:min(len(names), 3)], `" or "`) + `"?`
}

// exactly, between, atLeastOne and none check the number of arguments, which what describes.
func exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

func between(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if n := len(args); n < least || n > most {
			return badUsage("takes %s, got %s; quote text that has spaces", what, amount(n, "argument"))
		}
		return nil
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return badUsage("needs %s", what)
	}
}

func none(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return badUsage("takes no arguments, got %q", args[0])
}
