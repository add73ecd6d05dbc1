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

const memoryHelp = `Memory shows and changes memories of 'ragctx remember', of programs, and of turns of
conversations. Each memory has a history of its changes. Every change can be undone, except
a release from quarantine.

Lists show shared memories, which belong to no user. --user adds the memories of a user, and
--all-users the memories of all users. A command that names a memory finds a memory of any
user; with --user it acts as that user.`

func newMemory(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "memory",
		Aliases: []string{"memories"},
		Short:   "List, search, change, undo and move memories",
		Long:    memoryHelp,
		Example: `  ragctx memory list --user ada --order recent
  ragctx memory search "favourite tea" --user ada
  ragctx memory history ID
  ragctx memory undo ID
  ragctx memory export memories.ndjson --all-users`,
	}
	group(cmd)
	cmd.AddCommand(
		newMemoryList(env), newMemoryShow(env), newMemorySearch(env), newMemoryHistory(env), newMemoryUndo(env),
		newMemoryDelete(env), newMemoryTag(env), newMemoryQuarantine(env), newMemoryRelease(env),
		newMemoryPrune(env), newMemoryExport(env), newMemoryImport(env),
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
	userFlag(flags, &m.user)
	agentFlag(flags, &m.agent)
	allUsersFlag(flags, &m.all)
	inSessionFlag(flags, &m.session)
	alsoSession(flags, &m.session)
}

// alsoSession adds --session, which earlier versions had for --in-session.
func alsoSession(flags *pflag.FlagSet, session *string) {
	flags.StringVar(session, "session", "", "")
	flags.Lookup("session").Hidden = true
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
	flags.StringVar(user, "user", "", "act as this user, who sees only their own memories and shared ones (default anyone)")
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
