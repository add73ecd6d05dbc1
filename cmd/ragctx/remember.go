package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// rememberFlags are the flags of the command.
type rememberFlags struct {
	user, agent, session string
	kind                 string
	importance           float64
	tags                 []string
	profile, pinned      bool
	ttl                  time.Duration
	origin               string
}

const rememberHelp = `Remember stores TEXT as a memory and prints its id. Queries in the same namespace find it at
once; with --user only that user's queries do. TEXT "-" is read from standard input.`

const rememberExample = `  ragctx remember "Releases are frozen on Fridays." --type semantic
  ragctx remember "Prefers short answers." --user ada --importance 0.9 --tag style
  ragctx remember "The demo server is reserved for Ada." --ttl 36h
  ragctx remember "Ada is left-handed." --user ada --profile
  ragctx remember - --session s1 < notes.txt`

func newRemember(env lookupEnv) *cobra.Command {
	var f rememberFlags
	cmd := &cobra.Command{
		Use:        "remember TEXT",
		SuggestFor: []string{"add", "store", "save"},
		Short:      "Store a memory",
		Long:       rememberHelp,
		Example:    rememberExample,
		Args:       exactly(1, "one TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRemember(cmd, env, f, args[0])
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringVar(&f.session, "session", "", "session of the memory")
	ownerFlags(flags, &f.user, &f.agent)
	flags.StringVar(&f.kind, "type", string(ragctx.MemoryEpisodic), "episodic, semantic, procedural or working")
	flags.Float64Var(&f.importance, "importance", ragctx.DefaultImportance, "weight, 0 to 1")
	flags.StringArrayVar(&f.tags, "tag", nil, "tag; may be repeated")
	flags.BoolVar(&f.profile, "profile", false, "part of the user's profile")
	flags.BoolVar(&f.pinned, "pinned", false, "part of every answer, and never pruned")
	flags.StringVar(&f.origin, "origin", "", "author of the text: user, agent, tool or document; instructions of tools "+
		"and documents go into quarantine")
	flags.Var(ttlFlag{&f.ttl}, "ttl", "lifetime, such as 90m, 36h or 30d (default unlimited)")
	return cmd
}

func runRemember(cmd *cobra.Command, env lookupEnv, f rememberFlags, arg string) (err error) {
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	text, err := textArg(arg, cmd.InOrStdin(), ragctx.MaxMemoryBytes)
	if err != nil {
		return err
	}
	kind, err := ragctx.ParseMemoryType(f.kind)
	if err != nil {
		return asUsage(err)
	}
	origin, err := ragctx.ParseMemoryOrigin(f.origin)
	if err != nil {
		return asUsage(err)
	}
	m := ragctx.Memory{
		Origin:    origin,
		Namespace: s.Namespace, UserID: f.user, AgentID: f.agent, SessionID: f.session,
		Type: kind, Content: text, Importance: f.importance, Tags: f.tags,
		Profile: f.profile, Pinned: f.pinned, Expires: expiryOf(time.Now(), f.ttl),
	}
	if err := m.Validate(); err != nil {
		return asUsage(err)
	}
	c, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(c, &err)
	stored, status, err := c.Remember(ctx, m)
	if err != nil {
		return err
	}
	if status == store.InQuarantine {
		fmt.Fprintln(cmd.ErrOrStderr(), "it is in quarantine; 'ragctx memory show' says why")
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), stored.ID)
	return err
}
