package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
)

const assembleHelp = `Assemble builds a model call: context for the user's last message, and as many messages of
the conversation as fit. It reads JSON from FILE or standard input in one of three forms,
and prints the call in the same form:

  a request for /v1/assemble   its system_prompt and messages; with "placement": "blocks"
                               also the blocks, which you place yourself
  a list of messages           a list, the system prompt first
  a request for a chat API     the request with other messages, in the form of OpenAI,
                               Anthropic ("system", "messages") or Gemini ("contents");
                               its tools and the tokens of its answer count

Context follows the system prompt. Flags win over the file. Nothing is stored.`

const assembleExample = `  ragctx assemble request.json
  ragctx assemble request.json --window 8000 --report
  jq '.messages' chat.json | ragctx assemble --session s-1
  ragctx assemble chat.json | curl -d @- -H 'Content-Type: application/json' $API/chat/completions`

// maxAssembleBytes bounds the input.
const maxAssembleBytes = 32 << 20

var phases = []string{string(session.PhaseLoop), string(session.PhaseSynthesis)}

// callFlags describe the model call and the form of the output.
type callFlags struct {
	query, phase, agent, tokenizer string
	window, reserve, maxTokens     int
	spotlight, noCitations         bool
	report, json                   bool
}

func (f *callFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.query, "query", "", "text that is searched (default the user's last message)")
	choiceVar(flags, &f.phase, "phase", "", phases, "loop, or synthesis for a call without tools (default loop)")
	countVar(flags, &f.window, "window", 0, 1, ragctx.MaxTokensLimit,
		fmt.Sprintf("tokens of the model's window (default %d)", assemble.DefaultWindow))
	countVar(flags, &f.reserve, "reserve-output", 0, -1, ragctx.MaxTokensLimit,
		fmt.Sprintf("tokens of the window for the answer; -1 is none (default %d, a quarter at most)", assemble.DefaultReserve))
	countVar(flags, &f.maxTokens, "max-tokens", 0, 1, ragctx.MaxTokensLimit,
		fmt.Sprintf("largest number of tokens of the context (default %d)", ragctx.DefaultMaxTokens))
	agentFlag(flags, &f.agent)
	tokenizerFlag(flags, &f.tokenizer)
	flags.BoolVar(&f.spotlight, "spotlight", false, spotlightHelp)
	flags.BoolVar(&f.noCitations, "no-citations", false, noCitationsHelp)
	flags.BoolVar(&f.report, "report", false, "print a report on the tokens, the items and the messages left out instead")
	jsonFlag(flags, &f.json)
}

// validate rejects flags that exclude each other.
func (f *callFlags) validate() error {
	if f.report && f.json {
		return badUsage("--report and --json exclude each other")
	}
	return nil
}

// apply copies the flags into a request.
func (f *callFlags) apply(r *api.AssembleOptions) {
	r.Query = cmp.Or(f.query, r.Query)
	r.Phase = cmp.Or(f.phase, r.Phase)
	r.AgentID = cmp.Or(f.agent, r.AgentID)
	r.Context.Tokenizer = cmp.Or(f.tokenizer, r.Context.Tokenizer)
	r.Budget.Window = cmp.Or(f.window, r.Budget.Window)
	r.Budget.ReserveOutput = cmp.Or(f.reserve, r.Budget.ReserveOutput)
	if f.maxTokens != 0 {
		r.Context.MaxTokens = &f.maxTokens
	}
	r.Context.Spotlight = r.Context.Spotlight || f.spotlight
	if f.noCitations {
		r.Context.Citations = new(false)
	}
}

// assembleFlags are the flags of the command.
type assembleFlags struct {
	callFlags

	user, session string
}

func newAssemble(env lookupEnv) *cobra.Command {
	var f assembleFlags
	cmd := &cobra.Command{
		Use:     "assemble [FILE]",
		Short:   "Build a model call within a token budget",
		Long:    assembleHelp,
		Example: assembleExample,
		Args:    between(0, 1, "at most one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				return runAssemble(ctx, cmd, env, &f, s, c, args)
			})
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	f.add(flags)
	askingSessionFlag(flags, &f.session)
	userFlag(flags, &f.user)
	return cmd
}

func runAssemble(ctx context.Context, cmd *cobra.Command, env lookupEnv, f *assembleFlags, s settings, c *client, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	body, err := readBody(args, cmd.InOrStdin())
	if err != nil {
		return err
	}
	in, err := readCall(body)
	if err != nil {
		return err
	}
	r := in.request()
	f.apply(&r, s)
	a, err := c.Assemble(ctx, r)
	if err != nil {
		return err
	}
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	if a.Note != "" && !f.report {
		fmt.Fprintln(stderr, "note:", printable(a.Note))
	}
	switch {
	case f.json:
		return writeJSON(stdout, a)
	case f.report:
		return writeAssembly(stdout, paint(stdout, env), len(r.Tools), shownOf(r, a), a)
	}
	out, err := in.answer(a)
	if err != nil {
		return err
	}
	return writeJSON(stdout, out)
}

// readBody reads the named file, or standard input if none is named.
func readBody(args []string, stdin io.Reader) ([]byte, error) {
	name, in := "standard input", stdin
	if len(args) == 1 && args[0] != "-" {
		file, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer file.Close()
		name, in = args[0], file
	}
	b, err := io.ReadAll(io.LimitReader(in, maxAssembleBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case len(b) > maxAssembleBytes:
		return nil, ragctx.TooLarge(name, "has more than %d bytes", maxAssembleBytes)
	}
	return b, nil
}

// apply copies the flags and settings into a request.
func (f *assembleFlags) apply(r *api.AssembleRequest, s settings) {
	f.callFlags.apply(&r.AssembleOptions)
	r.UserID = cmp.Or(f.user, r.UserID)
	r.SessionID = cmp.Or(f.session, r.SessionID)
	if r.Namespace == "" || s.origin["namespace"] != fromDefault {
		r.Namespace = s.Namespace
	}
	if r.Placement == "" {
		r.Placement = string(assemble.Prepend)
	}
}

// shownOf returns how many messages of a request are shown, as text.
func shownOf(r api.AssembleRequest, a api.AssembleAnswer) string {
	return fmt.Sprintf("%d of %d", len(r.Messages)-leftOut(a.DroppedTotals), len(r.Messages))
}

// writeAssembly prints where the tokens of a call go, the items found and the messages left out.
// shown is the number of messages shown.
func writeAssembly(w io.Writer, bold func(string) string, tools int, shown string, a api.AssembleAnswer) error {
	b := a.Budget
	fmt.Fprintf(w, "%s %d of %s used, %d reserved for the answer, %d left\n", bold("budget"), b.Used, amount(b.Window, "token"),
		b.Reserved, max(b.Window-b.Used-b.Reserved, 0))
	found := make(map[string]int)
	for _, block := range a.Blocks {
		found[block.Name] = len(block.Items)
	}
	table(w, func(row func(...any)) {
		row("system prompt", b.System, "")
		row("tools", b.Tools, amount(tools, "definition"))
		row("stable context", b.Stable, amount(found["stable"], "item"))
		row("context", b.Volatile, amount(found["volatile"], "item"))
		row("messages", b.Messages, shown)
	})
	if b.Over > 0 {
		fmt.Fprintf(w, "%s by %s\n", bold("OVER THE BUDGET"), amount(b.Over, "token"))
	}
	if a.Context != nil {
		fmt.Fprintf(w, "%s %s\n", bold("looked for"), brief(a.Context.Query))
		if a.Context.Note != "" {
			fmt.Fprintln(w, " ", printable(a.Context.Note))
		}
	}
	explainItems(w, bold, a.Items)
	if len(a.Dropped) > 0 {
		fmt.Fprintln(w, bold("messages left out"))
		table(w, func(row func(...any)) {
			row("number", "role", "tokens", "reason", "")
			for _, d := range a.Dropped {
				number, whole := "", ""
				if d.Index != nil {
					number = strconv.Itoa(*d.Index + 1)
				}
				if d.Partial {
					whole = "in part"
				}
				row(number, d.Role, d.Tokens, d.Reason, whole)
			}
			for _, d := range a.DroppedTotals {
				row("all", "", d.Tokens, d.Reason, d.Messages)
			}
		})
	}
	if a.Note != "" {
		fmt.Fprintln(w, bold("note"), printable(a.Note))
	}
	return nil
}
