package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/ledger"
)

const packHelp = `Pack prints the context of an agent of a cluster. A strategy selects messages, documents and
memories; the message that started the agent is always included. FILE has the strategy as
JSON, alone or as the contextStrategy of a larger object; "-" is standard input.

The context alone goes to standard output. Warnings, and the reasons for empty sources, go
to standard error.`

const packExample = `  ragctx pack issue-17 --strategy worker.json --explain
  ragctx pack issue-17 --strategy worker.json --agent worker-1 --role worker --trigger 42
  ragctx pack issue-17 --strategy worker.json --json | jq .decisions`

// packFlags are the flags of the command.
type packFlags struct {
	api.PackRequest

	strategy, trigger string
	header, guidance  []string
	asJSON            bool
}

func newPack(env lookupEnv) *cobra.Command {
	var f packFlags
	cmd := &cobra.Command{
		Use:     "pack CLUSTER",
		Short:   "Print the context of an agent of a cluster",
		Long:    packHelp,
		Example: packExample,
	}
	clusterCommand(env, cmd, exactly(1, "one CLUSTER"), func(ctx context.Context, cmd *cobra.Command, c *client,
		in ledger.Filter, _ []string,
	) error {
		return f.run(ctx, cmd, env, c, in)
	})
	flags := cmd.Flags()
	flags.StringVar(&f.strategy, "strategy", "", "file with the strategy, - for standard input; required")
	flags.StringVar(&f.Agent.ID, "agent", "", "id of the agent: the sender of its messages")
	flags.StringVar(&f.Agent.Role, "role", "", "role of the agent; the context of a validator names the criteria that cannot be validated")
	countVar(flags, &f.Agent.Iteration, "iteration", 0, 0, 1<<30, "number of the agent's run, for the metrics")
	flags.BoolVar(&f.Agent.Isolated, "isolated", false, "the agent runs on another platform than those before it")
	flags.StringVar(&f.trigger, "trigger", "", "sequence or id of the message that started the agent")
	flags.StringArrayVar(&f.header, "header", nil, "text that the context begins with; may be repeated")
	flags.StringArrayVar(&f.guidance, "guidance", nil, "guidance for this context only; may be repeated")
	flags.StringVar(&f.After, "after", "", "leave out messages up to this sequence")
	userFlag(flags, &f.UserID)
	flags.BoolVar(&f.Explain, "explain", false, "report on each part on standard error")
	jsonFlag(cmd.Flags(), &f.asJSON)
	return cmd
}

// maxStrategyBytes bounds the file of a strategy.
const maxStrategyBytes = 1 << 20

func (f packFlags) run(ctx context.Context, cmd *cobra.Command, env lookupEnv, c *client, in ledger.Filter) error {
	if f.strategy == "" {
		return badUsage("--strategy is missing; name a file, or - for standard input")
	}
	raw, err := readStrategy(f.strategy, cmd.InOrStdin())
	if err != nil {
		return err
	}
	r := f.PackRequest
	r.Namespace, r.Cluster, r.Strategy = in.Namespace, in.Cluster, raw
	r.Parts.Header, r.Parts.QueuedGuidance = strings.Join(f.header, "\n"), f.guidance
	if f.trigger != "" {
		r.Trigger = &api.PackTrigger{Sequence: f.trigger}
		if strings.HasPrefix(f.trigger, "msg_") {
			r.Trigger = &api.PackTrigger{ID: f.trigger}
		}
	}
	if _, _, err := r.Request(); err != nil { // invalid JSON cannot be sent
		return err
	}
	a, err := c.Pack(ctx, r)
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	for _, w := range a.Warnings {
		fmt.Fprintf(stderr, "warning: %s\n", printable(w.String()))
	}
	if f.Explain {
		explainPack(stderr, paint(stderr, env), a)
	}
	if a.Note != "" {
		fmt.Fprintln(stderr, printable(a.Note))
	}
	if f.asJSON {
		return writeJSON(cmd.OutOrStdout(), a)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), a.Context)
	return err
}

func readStrategy(file string, stdin io.Reader) (raw []byte, err error) {
	from := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("strategy: %w", err)
		}
		defer func() { _ = opened.Close() }() // it was only read
		from = opened
	}
	raw, err = io.ReadAll(io.LimitReader(from, maxStrategyBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("strategy: %w", err)
	case len(raw) > maxStrategyBytes:
		return nil, fmt.Errorf("strategy: %s has more than %d bytes", file, maxStrategyBytes)
	}
	return raw, nil
}

// explainPack prints the outcome of each part and each source.
func explainPack(w io.Writer, bold func(string) string, a api.PackAnswer) {
	fmt.Fprintf(w, "%s %s of %d, through sequence %d\n", bold("context"), amount(a.Tokens, "token"), a.Budget.MaxTokens, a.ThroughSeq)
	if over := a.Budget.OverBudgetTokens; over > 0 {
		fmt.Fprintf(w, "required parts are %s beyond the budget\n", amount(over, "token"))
	}
	if a.MaxChars.Applied {
		fmt.Fprintf(w, "cut from %d to %d characters\n", a.MaxChars.BeforeChars, a.MaxChars.AfterChars)
	}
	fmt.Fprintln(w, bold("parts"))
	table(w, func(row func(...any)) {
		row("part", "priority", "outcome", "chars", "tokens", "remarks")
		for _, d := range a.Decisions {
			outcome, remark := d.Variant, ""
			if d.Status == budget.Skipped {
				outcome, remark = string(d.Status), string(d.Reason)
			}
			if d.Truncated {
				remark = "cut"
			}
			row(printable(d.ID), d.Priority, outcome, d.Chars, d.Tokens, remark)
		}
	})
	if len(a.Sources) == 0 {
		return
	}
	fmt.Fprintln(w, bold("sources"))
	table(w, func(row func(...any)) {
		row("source", "stored", "in range", "withheld", "selected", "remarks")
		for _, s := range a.Sources {
			remark := s.Reason
			if s.Capped {
				remark = "there is more than can be looked at"
			}
			row(printable(s.ID), counted(s.Stored), counted(s.InRange), s.Withheld, s.Selected, printable(remark))
		}
	})
}

// counted writes a count; a negative one is unknown.
func counted(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func newLedgerState(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "state CLUSTER",
		Aliases: []string{"snapshot"},
		Short:   "Show the state of a cluster's work",
		Long: "State shows the task, plan, progress, validation and debugging of a cluster, as its\n" +
			"messages report them. Nothing is written.",
		Example: "  ragctx ledger state issue-17\n  ragctx ledger state issue-17 --json | jq .progress",
	}
	clusterCommand(env, cmd, exactly(1, "one CLUSTER"), func(ctx context.Context, cmd *cobra.Command, c *client,
		f ledger.Filter, _ []string,
	) error {
		s, err := c.ClusterState(ctx, f.Namespace, f.Cluster)
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), s)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), s.Summary())
		return err
	})
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}
