package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/session/assemble"
)

const sessionsAssembleHelp = `Assemble builds the next model call of a session: the system prompt, context for the user's
last message, and as many messages of the conversation as fit. Unlike compile it stores a
compaction that is due; 'ragctx sessions undo' reverts it.

FILE, or - for standard input, is the JSON of a request for /v1/sessions/{id}:assemble. It
has the values without flags, such as tools and messages that are not stored. Flags win over
the file. With --format the command prints the call as JSON in the form of a vendor. Context
follows the system prompt; with --format it is placed where it does not break a prompt
cache.`

var placements = []string{string(assemble.Blocks), string(assemble.Prepend), string(assemble.Inline)}

// sessionCall is a command that assembles a model call of a session.
type sessionCall struct {
	callFlags

	system, format, placement string
	leaf, execution           string
	used                      int
}

func newSessionsAssemble(env lookupEnv) *cobra.Command {
	var c sessionCall
	cmd := sessionCommand(env, &cobra.Command{
		Use: "assemble SESSION [FILE]", Short: "Build the next model call of a session",
		Long: sessionsAssembleHelp,
		Example: `  ragctx sessions assemble s-42 --system-prompt "You are a release engineer." --window 32000
  ragctx sessions assemble s-42 --query rollback --report
  ragctx sessions assemble s-42 request.json --format anthropic --used-tokens 91500`,
	}, between(1, 2, "one SESSION and at most one FILE"), func(ctx context.Context, t sessionClient) error {
		return c.run(ctx, t, paint(t.out, env))
	})
	flags := cmd.Flags()
	c.add(flags)
	flags.StringVar(&c.system, "system-prompt", "", "system prompt of the agent; context follows it")
	choiceVar(flags, &c.format, "format", "", forms, formatHelp("the call, as JSON"))
	choiceVar(flags, &c.placement, "placement", "", placements,
		"where context goes: "+strings.Join(placements, ", ")+" (default prepend, with --format inline)")
	flags.StringVar(&c.leaf, "leaf", "", "last message of another branch, which stays unchanged")
	flags.StringVar(&c.execution, "execution", "", "execution whose traces are shown")
	countVar(flags, &c.used, "used-tokens", 0, 0, ragctx.MaxTokensLimit,
		"tokens of the last call, as the model reported them; 0 counts the messages")
	return cmd
}

func (c *sessionCall) run(ctx context.Context, t sessionClient, bold func(string) string) error {
	if err := c.validate(); err != nil {
		return err
	}
	r, err := c.request(t)
	if err != nil {
		return err
	}
	a, err := t.AssembleSession(ctx, t.key, r)
	if err != nil {
		return err
	}
	switch {
	case c.json:
		return writeJSON(t.out, a)
	case c.report:
		writeStages(t.out, bold, a.Pipeline)
		return writeAssembly(t.out, bold, len(r.Tools), fmt.Sprintf("%d left out", leftOut(a.DroppedTotals)), a.AssembleAnswer)
	case r.Format != "":
		err = writeJSON(t.out, modelInputOf(a.AssembleAnswer, r.Placement))
	default:
		err = writeCall(t.out, modelInputOf(a.AssembleAnswer, r.Placement))
	}
	if err != nil {
		return err
	}
	return writeCallReport(t.err, a)
}

// request returns the request that the file and the flags describe.
func (c *sessionCall) request(t sessionClient) (api.SessionAssembleRequest, error) {
	var r api.SessionAssembleRequest
	if len(t.args) > 0 {
		body, err := readBody(t.args, t.in)
		if err != nil {
			return r, err
		}
		if err := decodeStrictly(body, &r); err != nil {
			return r, ragctx.Invalid("input", "is no request for /v1/sessions/{id}:assemble: %v", err)
		}
	}
	c.apply(&r.AssembleOptions)
	r.SystemPrompt = cmp.Or(c.system, r.SystemPrompt)
	r.Format = cmp.Or(c.format, r.Format)
	r.Placement = cmp.Or(c.placement, r.Placement)
	r.Leaf = cmp.Or(c.leaf, r.Leaf)
	r.ExecutionID = cmp.Or(c.execution, r.ExecutionID)
	r.UsedTokens = cmp.Or(c.used, r.UsedTokens)
	if r.Placement == "" && (r.Format == "" || r.Format == forms[0]) {
		r.Placement = string(assemble.Prepend)
	}
	return r, nil
}

// writeCall prints the call for people.
func writeCall(w io.Writer, s modelInput) error {
	messages, err := api.Said{Messages: s.Messages}.Read()
	if err != nil {
		return err
	}
	if s.SystemPrompt != "" {
		messages = slices.Insert(messages, 0, ragctx.TextMessage(ragctx.RoleSystem, s.SystemPrompt))
	}
	if err := writeShown(w, messages); err != nil {
		return err
	}
	for _, b := range s.Blocks {
		if b.Text == "" {
			continue
		}
		if err := writeMessage(w, fmt.Sprintf("%s context  %s", b.Name, b.Place),
			ragctx.TextMessage(ragctx.RoleSystem, b.Text)); err != nil {
			return err
		}
	}
	return nil
}

// writeCallReport prints the cost of a call, the messages left out and the compactions.
func writeCallReport(w io.Writer, a api.SessionAssembleAnswer) error {
	b := a.Budget
	there := fmt.Sprintf("%s of %d used, %d reserved", amount(b.Used, "token"), b.Window, b.Reserved)
	if err := writeTotals(w, there, a.DroppedTotals, a.Hidden); err != nil {
		return err
	}
	for _, id := range a.Compactions {
		fmt.Fprintf(w, "compacted: %s\n", printable(id))
	}
	for _, p := range a.Pipeline {
		if p.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", printable(p.Stage), printable(p.Error))
		}
	}
	if a.Note != "" {
		fmt.Fprintln(w, "note:", printable(a.Note))
	}
	return nil
}

// writeStages prints the reports of a session's stages.
func writeStages(w io.Writer, bold func(string) string, stages []api.StageReport) {
	fmt.Fprintln(w, bold("stages"))
	table(w, func(row func(...any)) {
		row("name", "messages", "tokens", "remarks")
		for _, p := range stages {
			remarks := slices.Concat(nonEmpty(p.Error), nonEmpty(p.Skipped))
			if p.Persisted {
				remarks = append(remarks, "kept")
			}
			row(printable(p.Stage), fmt.Sprintf("%d to %d", p.MessagesBefore, p.MessagesAfter),
				fmt.Sprintf("%d to %d", p.TokensBefore, p.TokensAfter),
				printable(strings.Join(remarks, "; ")))
		}
	})
}

// leftOut returns the number of messages that are not shown.
func leftOut(dropped []api.DroppedTotal) (n int) {
	for _, d := range dropped {
		n += d.Messages - d.Partial
	}
	return n
}
