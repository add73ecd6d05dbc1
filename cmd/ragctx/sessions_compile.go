package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/view"
)

func newSessionsCompile(env lookupEnv) *cobra.Command {
	var r api.CompileRequest
	var asJSON bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "compile SESSION", Short: "Show the messages that a model is shown",
		Long: "Compile prints the messages that a model is shown. Summaries replace compacted messages,\n" +
			"results of tools of earlier executions are left out, and the rest fits the limits. With\n" +
			"--format it prints the messages as JSON in the form of a vendor. Nothing is stored.",
		Example: `  ragctx sessions compile s-42 --max-tokens 8000
  ragctx sessions compile s-42 --format anthropic
  ragctx sessions compile s-42 --compiler all_sections --raw`,
	}, exactly(1, "one SESSION"), func(ctx context.Context, t sessionClient) error {
		a, err := t.CompileSession(ctx, t.key, r)
		switch {
		case err != nil:
			return err
		case asJSON:
			return writeJSON(t.out, a)
		case r.Format != "":
			return writeJSON(t.out, a.Said)
		}
		return writeCompiled(t.out, t.err, a)
	})
	flags := cmd.Flags()
	choiceVar(flags, &r.Compiler, "compiler", "", session.CompilerNames(),
		"how messages are chosen: "+strings.Join(session.CompilerNames(), ", "))
	flags.StringArrayVar(&r.Select, "select", nil, "section to show, for compilers that select sections; may be repeated")
	flags.StringVar(&r.ExecutionID, "execution", "", "execution whose traces are shown")
	flags.StringVar(&r.Leaf, "leaf", "", "last message of another branch")
	countVar(flags, &r.MaxTokens, "max-tokens", 0, 0, ragctx.MaxTokensLimit, "largest number of tokens of the messages; 0 is no limit")
	countVar(flags, &r.MaxMessages, "max-messages", 0, 0, noLimit, "largest number of messages; 0 is no limit")
	tokenizerFlag(flags, &r.Tokenizer)
	flags.BoolVar(&r.Raw, "raw", false, "show the stored messages, without compactions")
	choiceVar(flags, &r.Format, "format", "", forms, formatHelp("the answer, as JSON"))
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func writeCompiled(w, about io.Writer, a api.CompileAnswer) error {
	messages, err := a.Read()
	if err != nil {
		return err
	}
	if err := writeShown(w, messages); err != nil {
		return err
	}
	return writeTotals(about, fmt.Sprintf("%s, %s", amount(len(messages), "message"), amount(a.Tokens, "token")), a.DroppedTotals, a.Hidden)
}

// writeShown prints the messages that a model is shown.
func writeShown(w io.Writer, messages []ragctx.Message) error {
	for _, m := range messages {
		if err := writeMessage(w, strings.TrimSpace(string(m.Role)+"  "+printable(m.Name)), m); err != nil {
			return err
		}
	}
	return nil
}

// writeTotals prints a summary and the number of messages left out.
func writeTotals(w io.Writer, there string, dropped []api.DroppedTotal, hidden []api.HiddenMessages) error {
	n := 0
	for _, d := range dropped {
		n += d.Messages
	}
	line := []string{fmt.Sprintf("%s; %d left out", there, n)}
	for _, h := range hidden {
		line = append(line, fmt.Sprintf("%s %d", h.Reason, h.Messages))
	}
	_, err := fmt.Fprintln(w, strings.Join(line, ", "))
	return err
}

// The policies and strategies of compaction.
var (
	policies   = append(compact.PolicyNames(), string(view.PolicyBuffer))
	strategies = compact.StrategyNames()
)

func newSessionsCompact(env lookupEnv) *cobra.Command {
	var r api.CompactRules
	var asJSON bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "compact SESSION", Short: "Compact a session in a model's view",
		Long: "Compact stores a summary that replaces older messages in a model's view. The messages\n" +
			"themselves stay. 'ragctx sessions undo' reverts it. If there is nothing to compact, the exit\n" +
			"status is 1, unless --if-due is given.",
		Example: `  ragctx sessions compact s-42
  ragctx sessions compact s-42 --window 32000 --if-due`,
	}, exactly(1, "one SESSION"), func(ctx context.Context, t sessionClient) error {
		a, err := t.CompactSession(ctx, t.key, r)
		if err != nil || asJSON {
			return writeUnless(err, t.out, a)
		}
		for _, w := range a.Warnings {
			fmt.Fprintf(t.err, "%s: %s\n", w.Strategy, printable(w.Reason))
		}
		if !a.Compacted {
			text := "nothing was done: " + printable(a.Reason)
			if r.IfDue {
				return t.say(false, nil, "%s", text)
			}
			return errors.New(text)
		}
		return t.say(false, nil, "%s of %s became %d of %d", amount(a.Before.Messages, "message"),
			amount(a.Before.Tokens, "token"), a.After.Messages, a.After.Tokens)
	})
	flags := cmd.Flags()
	choiceVar(flags, &r.Policy, "policy", "", policies,
		"policy for the cuts: "+strings.Join(policies, ", ")+" (default that of the session's layer)")
	choiceVar(flags, &r.Strategy, "strategy", "", strategies, "strategy: "+strings.Join(strategies, ", ")+" (default auto)")
	countVar(flags, &r.Window, "window", 0, 0, ragctx.MaxTokensLimit,
		fmt.Sprintf("tokens of the model's window (default %d)", compact.DefaultWindow))
	countVar(flags, &r.KeepFirst, "keep-first", 0, -1, 1000, "how many messages stay at the beginning; -1 is none (default 2)")
	countVar(flags, &r.KeepLast, "keep-last", 0, -1, 1000, "how many messages stay at the end; -1 is none (default 20)")
	flags.Float64Var(&r.Threshold, "threshold", 0, "share of the window from which compaction is due, 0.05 to 1 (default 0.8)")
	flags.BoolVar(&r.IfDue, "if-due", false, "compact only if it is due")
	jsonFlag(cmd.Flags(), &asJSON)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if flags.Changed("threshold") && !(r.Threshold >= .05 && r.Threshold <= 1) {
			return badUsage("--threshold: is %v; use 0.05 to 1", r.Threshold)
		}
		return nil
	}
	return cmd
}

func newSessionsUndo(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "undo SESSION", Short: "Undo the newest compaction",
		Long: "Undo removes the newest summary of a session, or the replacement of messages by a stage of\n" +
			"your own. The messages are shown again. Messages that the layer buffer moved return.",
		Example: "  ragctx sessions undo s-42",
	}, exactly(1, "one SESSION"), func(ctx context.Context, t sessionClient) error {
		c, err := t.UndoCompaction(ctx, t.key)
		if err != nil {
			return err
		}
		return t.say(asJSON, c, "undone: %s of %s", printable(c.ID), localTime(c.Created))
	})
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}
