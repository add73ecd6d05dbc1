package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/internal/access"
)

// mcpFlags are the flags of the command.
type mcpFlags struct {
	user, agent, session string
	paths, tools         []string
	readOnly, spotlight  bool
}

const mcpHelp = `Mcp speaks the Model Context Protocol on standard input and output, for editors and agents
that start their servers themselves. It ends with its input. It opens the data directory, or
uses the server that has it open; several may run at once.

The namespace, user, agent and session of the flags apply to all calls, and a model cannot
change them. Each call may choose the others.

Agents may store texts. They may ingest files and folders only below an --allow-path, and
pages only from the hosts of the setting allow_hosts.`

const mcpExample = `  ragctx mcp
  ragctx mcp --namespace work --user ada
  ragctx mcp --read-only
  ragctx mcp --tools context,memory_add
  claude mcp add ragctx -- ragctx mcp --allow-path .`

func newMCP(env lookupEnv) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve agents on standard input and output",
		Long:    mcpHelp,
		Example: mcpExample,
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runMCP(cmd, env, f) },
	}
	flags := cmd.Flags()
	addSettings(flags, "server", "allow_hosts", "fetch_rate")
	flags.StringVar(&f.user, "user", "", "act for this user, who sees their own memories and shared ones")
	flags.StringVar(&f.agent, "agent", "", "read only memories of this agent, and store memories as this agent's")
	flags.StringVar(&f.session, "session", "", "read only memories of this session, and store memories as this session's")
	flags.StringArrayVar(&f.paths, "allow-path", nil, "folder or file from which agents may ingest; may be repeated")
	flags.BoolVar(&f.spotlight, "spotlight", false,
		"mark the passages of every context word by word as data; takes about twice the tokens")
	flags.StringSliceVar(&f.tools, "tools", nil, "offer only these tools: "+strings.Join(mcp.ToolNames(), ", "))
	flags.BoolVar(&f.readOnly, "read-only", false, "offer only what changes nothing")
	return cmd
}

func runMCP(cmd *cobra.Command, env lookupEnv, f mcpFlags) (err error) {
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	log := s.logger(cmd.ErrOrStderr(), slog.LevelWarn)
	if err := mcp.CheckTools(f.tools); err != nil {
		return asUsage(err)
	}
	files, err := s.allowed(f.paths)
	if err != nil {
		return err
	}
	a := newAgentAPI(files, func(ctx context.Context) (*client, error) { return s.share(ctx, cmd.ErrOrStderr(), log) })
	c, err := a.connect(ctx, nil) // mistakes are reported before the first message
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if _, err := c.ListNamespaces(ctx, "", 1); err != nil { // the cheapest call that needs a key
		return err
	}
	o := mcp.Options{
		Scope: mcp.Scope{UserID: f.user, AgentID: f.agent, SessionID: f.session}, Tools: f.tools, Spotlight: f.spotlight,
		Version: buildVersion(), Log: log,
	}
	if s.origin["namespace"] != fromDefault {
		o.Scope.Namespace = s.Namespace
	}
	if files.any() {
		o.Ingest = a.ingest
	}
	if f.readOnly {
		ctx = access.With(ctx, access.Grant{Role: access.Read})
	}
	err = mcp.New(a, o).ServeStdio(ctx, io.NopCloser(cmd.InOrStdin()), cmd.OutOrStdout())
	if ctx.Err() != nil {
		return nil // interrupted, as clients end it
	}
	return err
}
