package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/bench/eval"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/rerank"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/xmlfmt"

	embedding "github.com/ragctx/ragctx/embed/remote"
)

// The tables of completions for flags and arguments. A flag stands there under its name, or under
// command and name if commands differ. Everything else has no completion: a shell would offer files
// for it.

// flagValues are the values of flags. Settings with a check that knows its values are left out.
func flagValues() map[string][]string {
	return map[string][]string{
		"depth": {"abstract", "overview", "full"}, "preset": ragctx.PresetNames(), "tokenizer": tokens.Names(), "format": xmlfmt.Names(),
		"phase":            phases,
		"type":             {"memory", "resource", "skill"},
		"memory list type": memoryTypes, "memory export type": memoryTypes, "remember type": memoryTypes,
		"kind":              {"preference", "decision", "instruction", "identity", "relation", "plan", "event", "outcome"},
		"memory list state": memoryStates, "memory list order": memoryOrders,
		"remember origin": {"user", "agent", "tool", "document"}, "keys create role": {"read", "write", "admin"},
		"pack role":       {"validator"},
		"jobs list state": jobStates, "jobs show items": itemStates, "procedures list state": procedureStates,
		"events type": eventTypes(), "bench arrivals": {poisson, evenly},
		"eval modes": eval.Modes(), "eval via": {"docs", "turns", "nameless", eval.ViaAuto},
		"layer": layers, "sessions append role": roles, "compiler": session.CompilerNames(), "policy": policies,
		"sessions compact strategy": strategies,
		"sessions append format":    forms, "sessions compile format": forms, "sessions assemble format": forms, "placement": placements,
		"embedder": embedders, "embed-shape": texts(embedding.Shapes()), "rerank-shape": texts(rerank.Shapes()),
		"rerank-scores": texts(rerank.Scales()),
	}
}

var (
	memoryTypes     = []string{"episodic", "semantic", "procedural", "working"}
	memoryStates    = []string{"active", "superseded", "deleted", "expired"}
	memoryOrders    = []string{"score", "recent", "importance", "id"}
	jobStates       = []string{"queued", "running", "done", "failed", "cancelled"}
	itemStates      = []string{"all", "pending", "done", "failed", "skipped"}
	procedureStates = []string{"draft", "published"}
	embedders       = []string{"static", "auto", "minilm", "hashing"}
)

// The flags that take paths of files and of directories.
var (
	fileFlags = []string{
		"config", "key-file", "ca-file", "tls-cert", "tls-key", "embed-key-file", "docs", "source", "strategy", "queries", "allow-path",
		"bench json", "sessions append messages",
	}
	dirFlags = []string{"data", "markdown", "out"}
)

// argument completes arguments by position.
type argument []cobra.CompletionFunc

// arguments are the completions of arguments by command and position. For a command that takes any
// number, the last one is for the rest.
func arguments(env lookupEnv) map[string]argument {
	document, memory, quarantined := fromData(env, documentNames), fromData(env, memoryNames), fromData(env, quarantinedNames)
	job, procedure, cluster := fromData(env, jobNames), fromData(env, procedureNames), fromData(env, clusterNames)
	space, talk := fromData(env, namespaceNames), fromData(env, sessionNames)
	embedder := cobra.FixedCompletions(append(slices.Clone(embedders), engine.RemoteName), noFiles)
	return map[string]argument{
		"assemble": {completeFiles}, "ingest": {completeFiles}, "snapshot": {completeFiles}, "restore": {completeFiles},
		"memory import": {completeFiles}, "memory export": {completeFiles},
		"docs show": {document}, "docs delete": {document},
		"memory show": {memory}, "memory history": {memory}, "memory delete": {memory}, "memory undo": {memory},
		"memory tag":     {memory, cobra.NoFileCompletions},
		"memory release": {quarantined},
		"jobs show":      {job}, "jobs watch": {job}, "jobs cancel": {job}, "jobs retry": {job},
		"keys revoke":       {fromData(env, keyNames)},
		"namespaces delete": {space},
		"procedures show":   {procedure}, "procedures edit": {procedure, completeFiles},
		"procedures publish": {procedure}, "procedures unpublish": {procedure},
		"procedures rollback": {procedure}, "procedures preview": {procedure}, "procedures delete": {procedure},
		"ledger tail": {cluster}, "ledger publish": {cluster}, "ledger state": {cluster}, "ledger delete": {cluster},
		"ledger export": {cluster, completeFiles}, "ledger import": {cluster, completeFiles}, "pack": {cluster},
		"sessions show": {talk}, "sessions append": {talk}, "sessions messages": {talk}, "sessions compile": {talk},
		"sessions assemble": {talk, completeFiles}, "sessions compact": {talk}, "sessions undo": {talk},
		"sessions delete": {talk},
		"sessions export": {talk, completeFiles}, "sessions import": {cobra.NoFileCompletions, completeFiles},
		"reembed": {embedder}, "api": {
			cobra.FixedCompletions([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, noFiles),
			cobra.NoFileCompletions,
		},
	}
}

// repeated are the commands that repeat their last argument.
var repeated = []string{"ingest", "docs delete", "memory delete", "memory tag"}

const noFiles = cobra.ShellCompDirectiveNoFileComp

func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func completeDirs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completed sets the completions of all commands of root.
func completed(root *cobra.Command, env lookupEnv) {
	args, flags := arguments(env), flagCompletions(env)
	var walk func(cmd *cobra.Command, name string)
	walk = func(cmd *cobra.Command, name string) {
		if !cmd.HasSubCommands() {
			cmd.ValidArgsFunction = args[name].complete(slices.Contains(repeated, name))
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			fn := flags[name+" "+f.Name]
			if fn == nil {
				fn = flags[f.Name]
			}
			if fn == nil {
				fn = cobra.NoFileCompletions
			}
			_ = cmd.RegisterFlagCompletionFunc(f.Name, fn) // the flag exists, and has no completion yet
		})
		for _, c := range cmd.Commands() {
			walk(c, strings.TrimSpace(name+" "+c.Name()))
		}
	}
	walk(root, "")
}

// complete completes an argument by its position; with goesOn, the last completion is for the rest.
func (a argument) complete(goesOn bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := len(args)
		if goesOn {
			at = min(at, len(a)-1)
		}
		if at >= len(a) {
			return nil, noFiles
		}
		return a[at](cmd, args, prefix)
	}
}

// flagCompletions returns the completions of flags by name.
func flagCompletions(env lookupEnv) map[string]cobra.CompletionFunc {
	all := make(map[string]cobra.CompletionFunc)
	for _, s := range allSettings() {
		if values := valuesOf(s.check); values != nil {
			all[flagName(s.name)] = cobra.FixedCompletions(values, noFiles)
		}
	}
	for name, values := range flagValues() {
		all[name] = cobra.FixedCompletions(values, noFiles)
	}
	for _, name := range fileFlags {
		all[name] = completeFiles
	}
	for _, name := range dirFlags {
		all[name] = completeDirs
	}
	for _, name := range []string{"namespace", "keys create only"} {
		all[name] = fromData(env, namespaceNames)
	}
	return all
}

// valuesOf returns the values that a check accepts, or nil if it is no list.
func valuesOf(check func(string) error) []string {
	if check == nil {
		return nil
	}
	if unknown, ok := errors.AsType[*unknownValue](check("\x00")); ok {
		return unknown.known
	}
	return nil
}

// texts returns names as strings.
func texts[S ~string](names []S) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}
