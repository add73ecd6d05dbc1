package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

const memoryHelp = `Memory shows and curates what is remembered: by 'ragctx remember', by programs, and
from the turns of conversations. Every change of a memory is kept in its history and
can be undone, but for a release from quarantine.

Lists show the memories that belong to no user; --user adds those of a user,
--all-users those of all. A command that names a memory finds anyone's, unless --user
says for whom it acts.`

func newMemory(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "List, search, change, undo and move memories",
		Long:  memoryHelp,
		Example: `  ragctx memory list --user ada --order recent
  ragctx memory search "favourite tea" --user ada
  ragctx memory history ID
  ragctx memory undo ID
  ragctx memory export memories.ndjson --all-users`,
	}
	group(cmd)
	cmd.AddCommand(
		newMemoryList(env), newMemoryShow(env), newMemorySearch(env), newMemoryHistory(env), newMemoryUndo(env),
		newMemoryDelete(env), newMemoryTag(env), newMemoryStats(env), newMemoryQuarantine(env), newMemoryRelease(env),
		newMemoryDiscard(env), newMemoryPrune(env), newMemoryExport(env), newMemoryImport(env), newMemoryExtract(env),
	)
	return cmd
}

// memoryScope are the flags that select the owners of memories.
type memoryScope struct {
	user, agent, session string
	all                  bool
}

func (m *memoryScope) add(flags *pflag.FlagSet) {
	addSettings(flags, "server")
	flags.StringVar(&m.user, "user", "", "memories of this user, beside those of no user")
	flags.BoolVar(&m.all, "all-users", false, "memories of every user")
	flags.StringVar(&m.agent, "agent", "", "only memories of this agent")
	flags.StringVar(&m.session, "session", "", "only memories of this session")
}

func (m *memoryScope) filter() (store.MemoryFilter, error) {
	f := store.MemoryFilter{UserID: m.user, AnyUser: m.all, AgentID: m.agent, SessionID: m.session}
	if m.all && m.user != "" {
		return f, badUsage("--all-users contradicts --user; give one of them")
	}
	return f, nil
}

// viewerFlag adds the flag for the user on behalf of whom a command acts.
func viewerFlag(flags *pflag.FlagSet, user *string) {
	addSettings(flags, "server")
	flags.StringVar(user, "user", "", "act as this user, for whom there are only their own memories and those of "+
		"no user (default anyone's)")
}

func viewer(user string) engine.Viewer { return engine.Viewer{User: user, Anyone: user == ""} }

// memoryCommand completes a command that works on one memory, with fn called for its id.
func memoryCommand(env lookupEnv, cmd *cobra.Command,
	fn func(ctx context.Context, w io.Writer, c *client, namespace, id string, by engine.Viewer) error,
) *cobra.Command {
	var user string
	cmd.Args = exactly(1, "one ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
			return fn(ctx, cmd.OutOrStdout(), c, s.Namespace, args[0], viewer(user))
		})
	}
	viewerFlag(cmd.Flags(), &user)
	return cmd
}

// timeFlag is a flag's value: a time, or a day of UTC.
type timeFlag struct{ value *time.Time }

// String implements pflag.Value.
func (t timeFlag) String() string {
	if t.value == nil || t.value.IsZero() {
		return ""
	}
	return t.value.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (timeFlag) Type() string { return "time" }

// Set implements pflag.Value.
func (t timeFlag) Set(s string) error {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			*t.value = at
			return nil
		}
	}
	return fmt.Errorf("use a day such as 2026-03-01, or a time such as 2026-03-01T12:00:00Z")
}

// ttlFlag is a flag's value: a duration as [memory.ParseTTL] reads it.
type ttlFlag struct{ value *time.Duration }

// String implements pflag.Value.
func (t ttlFlag) String() string {
	if t.value == nil || *t.value == 0 {
		return ""
	}
	return t.value.String()
}

// Type implements pflag.Value.
func (ttlFlag) Type() string { return "time" }

// Set implements pflag.Value.
func (t ttlFlag) Set(s string) error {
	d, err := memory.ParseTTL(s)
	if err != nil {
		return fmt.Errorf("use a length of time such as 90m, 36h or 30d")
	}
	*t.value = d
	return nil
}
