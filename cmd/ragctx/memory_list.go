package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/sentence"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// memoryFlags are the flags that select memories.
type memoryFlags struct {
	memoryScope

	types, tags, kinds []string
	contains           string
	minImportance      float64
	profile, pinned    bool
	after, before      time.Time
}

func (m *memoryFlags) add(flags *pflag.FlagSet) {
	m.memoryScope.add(flags)
	flags.StringSliceVar(&m.types, "type", nil, "only these types: episodic, semantic, procedural, working")
	flags.StringArrayVar(&m.tags, "tag", nil, "only items with this tag; repeated, with any of them")
	flags.StringSliceVar(&m.kinds, "kind", nil, "only these kinds of facts: preference, decision, instruction, "+
		"identity, relation, plan, event, outcome")
	flags.StringVar(&m.contains, "contains", "", "only memories that contain this text")
	flags.Float64Var(&m.minImportance, "min-importance", 0, "only memories of at least this importance, 0 to 1")
	flags.BoolVar(&m.profile, "profile", false, "only memories of a user's profile")
	flags.BoolVar(&m.pinned, "pinned", false, "only pinned memories, which are part of every answer")
	periodFlags(flags, &m.after, &m.before)
}

func (m *memoryFlags) filter() (store.MemoryFilter, error) {
	f, err := m.memoryScope.filter()
	if err != nil {
		return f, err
	}
	if !(m.minImportance >= 0 && m.minImportance <= 1) {
		return f, badUsage("--min-importance: is %v; use 0 to 1", m.minImportance)
	}
	f.AnyTags, f.Contains, f.MinImportance, f.Profile, f.Pinned = m.tags, m.contains, m.minImportance, m.profile, m.pinned
	f.Filter.OccurredAfter, f.Filter.OccurredBefore = m.after, m.before
	for _, name := range m.types {
		t, err := ragctx.ParseMemoryType(name)
		if err != nil {
			return f, asUsage(err)
		}
		f.Types = append(f.Types, t)
	}
	for _, name := range m.kinds {
		k, err := facts.ParseKind(name)
		if err != nil {
			return f, asUsage(err)
		}
		f.Kinds = append(f.Kinds, k)
	}
	return f, nil
}

// memoryListFlags are the flags of the command.
type memoryListFlags struct {
	memoryFlags

	state, order string
	asOf         time.Time
	limit        int
	json         bool
}

func newMemoryList(env lookupEnv) *cobra.Command {
	var f memoryListFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List memories",
		Long: "List shows current memories by importance and recency, the best first, or in another order.\n" +
			"--state shows memories in another state, --as-of those of an earlier time.",
		Example: `  ragctx memory list --user ada --limit 20
  ragctx memory list --all-users --kind preference,decision --order recent
  ragctx memory list --state superseded --json
  ragctx memory list --contains tea --as-of 2026-03-01`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return listMemories(cmd, env, f) },
	}
	flags := cmd.Flags()
	f.add(flags)
	choiceVar(flags, &f.state, "state", string(ragctx.MemoryActive), memoryStates,
		"active, superseded, deleted or expired; 'ragctx memory quarantine' lists the quarantine")
	choiceVar(flags, &f.order, "order", memoryOrders[0], memoryOrders, "score, recent, importance or id")
	asOfFlag(flags, &f.asOf)
	limitFlag(flags, &f.limit, 100, 0, noLimit)
	jsonFlag(cmd.Flags(), &f.json)
	return cmd
}

func listMemories(cmd *cobra.Command, env lookupEnv, fl memoryListFlags) error {
	f, err := fl.filter()
	if err != nil {
		return err
	}
	f.State, f.AsOf, f.Order = ragctx.MemoryState(fl.state), fl.asOf, api.MemoryOrder(fl.order)
	return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
		w := cmd.OutOrStdout()
		all := []ragctx.Memory{}
		shown := 0
		err := engine.EachPage(ctx, c.ListMemories, s.Namespace, f, fl.limit, func(page []ragctx.Memory) error {
			if fl.json {
				all = append(all, page...)
				return nil
			}
			shown += len(page)
			return writeMemories(w, page, shown == len(page))
		})
		switch {
		case err == nil && fl.json:
			err = writeJSON(w, all)
		case err == nil && shown == 0:
			printNone(ctx, cmd.ErrOrStderr(), c, s.Namespace, "memories that these conditions see")
		}
		return err
	})
}

// contentColumn is the width of the column with the content.
const contentColumn = 80

// brief returns the beginning of a text in one line.
func brief(text string) string {
	return printable(sentence.Clip(strings.Join(strings.Fields(text), " "), contentColumn))
}

func writeMemories(w io.Writer, page []ragctx.Memory, head bool) error {
	heading := ""
	if head {
		heading = "ID\tTYPE\tUSER\tIMPORTANCE\tOCCURRED\tCONTENT"
	}
	return writeTable(w, heading, page, func(m ragctx.Memory) []any {
		return []any{m.ID, m.Type, cmp.Or(m.UserID, "-"), fmt.Sprintf("%.2f", m.Importance), localTime(m.Occurred), brief(m.Content)}
	})
}
