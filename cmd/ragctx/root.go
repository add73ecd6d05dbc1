package main

import (
	"github.com/spf13/cobra"
)

// lookupEnv is os.LookupEnv or a stand-in.
type lookupEnv func(string) (string, bool)

const rootHelp = `ragctx answers one question for an agent: given this query and this token
budget, what should the model see?

It ingests documents, remembers conversations, searches both by keywords and by
vectors, and fits the best of it into the budget. Everything stays in one data
directory on this machine; nothing is sent anywhere, unless you name an embedding
or a reranking service or a provider of your own. Only pages that you name by their URLs are fetched.`

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
	{"Documents", []func(lookupEnv) *cobra.Command{newIngest, newDocs}},
	{"Memories", []func(lookupEnv) *cobra.Command{newRemember, newMemory, newProcedures}},
	{"Conversations", []func(lookupEnv) *cobra.Command{newSessions, newLedger, newPack}},
	{"Server", []func(lookupEnv) *cobra.Command{newServe, newMCP, newStatus, newEvents, newJobs, newAPI}},
	{"Administration", []func(lookupEnv) *cobra.Command{
		newConfig, newKeys, newNamespaces, newProviders, newDoctor, newReembed, newSnapshot, newRestore,
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
		Version:       thisBuild().String(), // cobra prints it; a template would link text/template, see docs/decisions/build.md
	}
	group(root)
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.String("config", "", "settings file (default is shown by 'ragctx config path')")
	flags.Bool("global", false, "use the data directory of the user, also inside a project")
	addSettings(flags, "data", "namespace", "offline", "log_level", "log_format")
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
	parent.SuggestionsMinimumDistance = 2 // cobra's default
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		return badUsage("unknown command %q; did you mean %q?", name, near[0])
	}
	return badUsage("unknown command %q", name)
}

// exactly, atLeast and none check the number of arguments, which what describes.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return badUsage("takes %s, got %d arguments; quote text that has spaces", what, len(args))
	}
}

func atLeast(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) >= n {
			return nil
		}
		return badUsage("needs %s", what)
	}
}

func oneOrTwo(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 1 || len(args) == 2 {
			return nil
		}
		return badUsage("takes %s, got %d arguments; quote text that has spaces", what, len(args))
	}
}

func atMost(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return badUsage("takes at most %s, got %d arguments", what, len(args))
	}
}

func none(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return badUsage("takes no arguments, got %q", args[0])
}
