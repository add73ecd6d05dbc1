package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
)

const ledgerHelp = `A ledger holds the messages that the agents of a cluster send each other. Messages are in
order, never change, and their times only grow. Agents append to a ledger, query it and
follow it.`

func newLedger(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Read, follow and write the messages of agents",
		Long:  ledgerHelp,
		Example: `  ragctx ledger publish issue-17 --topic PLAN_READY --sender planner "First the tests."
  ragctx ledger tail issue-17 --follow
  ragctx ledger export issue-17 issue-17.ndjson`,
	}
	group(cmd)
	cmd.AddCommand(newLedgerTail(env), newLedgerPublish(env), newLedgerState(env), newLedgerExport(env),
		newLedgerImport(env), newLedgerList(env), newLedgerDelete(env))
	return cmd
}

// clusterCommand completes a command whose first argument is a cluster.
func clusterCommand(env lookupEnv, cmd *cobra.Command, args cobra.PositionalArgs,
	run func(ctx context.Context, cmd *cobra.Command, c *client, f ledger.Filter, args []string) error,
) *cobra.Command {
	cmd.Args = args
	addSettings(cmd.Flags(), "server")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
			f := ledger.Filter{Namespace: s.Namespace, Cluster: args[0]}
			if err := f.Check(); err != nil {
				return asUsage(err)
			}
			return run(ctx, cmd, c, f, args[1:])
		})
	}
	return cmd
}

// messageFlags select messages of a cluster.
type messageFlags struct {
	topics           []string
	sender, receiver string
}

func (m *messageFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&m.topics, "topic", nil, "only this topic; may be repeated")
	flags.StringVar(&m.sender, "sender", "", "only of this sender")
	flags.StringVar(&m.receiver, "receiver", "", "only to this receiver; broadcast is everyone")
}

func (m *messageFlags) narrow(f ledger.Filter) ledger.Filter {
	f.Topics, f.Sender, f.Receiver = m.topics, m.sender, m.receiver
	return f
}

func newLedgerTail(env lookupEnv) *cobra.Command {
	var m messageFlags
	var n int
	var follow, asJSON bool
	var after string
	cmd := clusterCommand(env, &cobra.Command{
		Use:   "tail CLUSTER",
		Short: "Show the newest messages, and follow new ones",
		Long: "Tail prints the newest messages of a cluster, oldest first, or with --after all messages\n" +
			"after a sequence. With --follow it continues with new messages, and resumes after a lost\n" +
			"connection. --follow needs a server, because no other process can write while a command has\n" +
			"the data directory open.",
		Example: `  ragctx ledger tail issue-17
  ragctx ledger tail issue-17 --topic VALIDATION_RESULT --limit 5
  ragctx ledger tail issue-17 --follow --json | jq .text`,
	}, exactly(1, "one CLUSTER"), func(ctx context.Context, cmd *cobra.Command, c *client, f ledger.Filter, _ []string) error {
		show := showMessage
		if asJSON {
			show = func(w io.Writer, m ledger.Message) error {
				line, err := ledger.Line(m)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(w, "%s\n", line)
				return err
			}
		}
		t := tail{Filter: m.narrow(f), c: c, show: func(m ledger.Message) error { return show(cmd.OutOrStdout(), m) }}
		if c.local != nil && follow {
			return badUsage("--follow needs a server, and none has the data directory; start one with 'ragctx serve'")
		}
		if after != "" {
			t.given = true
			if err := t.after.UnmarshalText([]byte(after)); err != nil {
				return asUsage(err)
			}
		}
		return t.run(ctx, n, follow)
	})
	flags := cmd.Flags()
	m.add(flags)
	countVar(flags, &n, "limit", 20, 0, 1000, "how many of the stored messages; 0 is none")
	flags.StringVar(&after, "after", "", "begin after this sequence")
	flags.BoolVarP(&follow, "follow", "f", false, "continue with new messages")
	linesFlag(cmd.Flags(), &asJSON)
	return cmd
}

// tail prints messages of a cluster.
type tail struct {
	ledger.Filter

	c     *client
	show  func(ledger.Message) error
	after ledger.Sequence
	given bool // whether after is set
}

func (t *tail) run(ctx context.Context, n int, follow bool) error {
	switch last, err := t.c.LastMessage(ctx, t.Namespace, t.Cluster); {
	case err != nil:
		return err
	case last == 0 && !follow:
		return noCluster(t.Cluster)
	case follow && t.given:
		return t.follow(ctx)
	case t.given:
		return t.through(ctx, last)
	default:
		if err := t.newest(ctx, n, last); err != nil || !follow {
			return err
		}
		t.after = last
		return t.follow(ctx)
	}
}

// newest prints the newest n messages up to a sequence.
func (t *tail) newest(ctx context.Context, n int, last ledger.Sequence) error {
	if n == 0 || last == 0 {
		return nil
	}
	var found []ledger.Message
	for len(found) < n && last > 0 { // the server bounds its pages
		page, err := t.c.Messages(ctx, ledger.Query{Filter: t.Filter, ThroughSeq: last, Limit: n - len(found), Newest: true})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		found = append(found, page...)
		last = page[len(page)-1].Sequence - 1
	}
	for i := range found {
		if err := t.show(found[len(found)-1-i]); err != nil {
			return err
		}
	}
	return nil
}

// through prints the messages after t.after up to a sequence.
func (t *tail) through(ctx context.Context, last ledger.Sequence) error {
	for last > 0 {
		page, err := t.c.Messages(ctx, ledger.Query{Filter: t.Filter, AfterSeq: t.after, ThroughSeq: last, Limit: 1000})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, m := range page {
			if err := t.show(m); err != nil {
				return err
			}
			t.after = m.Sequence
		}
	}
	return nil
}

func (t *tail) follow(ctx context.Context) error {
	for m, err := range t.c.FollowMessages(ctx, t.Filter, t.after) {
		if err != nil {
			return err
		}
		if err := t.show(m); err != nil {
			return err
		}
	}
	return nil
}

// showMessage prints a message for people.
func showMessage(w io.Writer, m ledger.Message) error {
	to := ""
	if m.Receiver != ledger.Broadcast {
		to = " to " + printable(m.Receiver)
	}
	_, err := fmt.Fprintf(w, "%s  %s  %s  %s%s\n", m.Sequence, m.Time().Local().Format("2006-01-02 15:04:05.000"),
		printable(m.Topic), printable(m.Sender), to) //nolint:gosmopolitan // times are those of who asks
	for _, part := range []string{m.Text, string(m.Data)} {
		if part != "" && err == nil {
			for line := range strings.Lines(strings.TrimRight(part, "\n")) {
				if _, err = fmt.Fprintf(w, "    %s\n", printable(strings.TrimRight(line, "\r\n"))); err != nil {
					return err
				}
			}
		}
	}
	return err
}

func newLedgerPublish(env lookupEnv) *cobra.Command {
	var m ledger.Message
	var data, metadata string
	cmd := clusterCommand(env, &cobra.Command{
		Use:   "publish CLUSTER [TEXT]",
		Short: "Append a message",
		Long: "Publish appends a message to the ledger of a cluster and prints its sequence and its id\n" +
			"once it is on disk. TEXT - is read from standard input.",
		Example: `  ragctx ledger publish issue-17 --topic ISSUE_OPENED --sender system "The build is slow."
  ragctx ledger publish issue-17 --topic RESULT --sender judge --json-data '{"approved":true}'`,
	}, between(1, 2, "one CLUSTER and at most one TEXT"), func(ctx context.Context, cmd *cobra.Command, c *client,
		f ledger.Filter, args []string,
	) error {
		m.Namespace, m.Cluster = f.Namespace, f.Cluster
		if len(args) > 0 {
			var err error
			if m.Text, err = textArg(args[0], cmd.InOrStdin(), ledger.MaxMessageBytes); err != nil {
				return err
			}
		}
		m.Data, m.Metadata = json.RawMessage(data), json.RawMessage(metadata)
		if _, err := ledger.Check([]ledger.Message{m}, ledger.Appending); err != nil {
			return asUsage(err)
		}
		stored, err := c.AppendMessages(ctx, []ledger.Message{m})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", stored[0].Sequence, stored[0].ID)
		return err
	})
	flags := cmd.Flags()
	flags.StringVar(&m.Topic, "topic", "", "topic, such as PLAN_READY")
	flags.StringVar(&m.Sender, "sender", "", "sender")
	flags.StringVar(&m.Receiver, "receiver", "", "receiver (default everyone)")
	flags.StringVar(&data, "json-data", "", "data as JSON")
	flags.StringVar(&metadata, "metadata", "", "metadata as JSON")
	return cmd
}

func newLedgerList(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List clusters",
		Long:  "List prints the clusters of the namespace by name, with how many messages they have.",
		Example: `  ragctx ledger list
  ragctx ledger list --json | jq -r '.[].cluster'`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				all, err := allPages(func(last store.ClusterInfo) ([]store.ClusterInfo, error) {
					return c.Clusters(ctx, s.Namespace, last.Cluster, engine.MaxPage)
				})
				if err == nil && len(all) == 0 && !asJSON {
					printNone(ctx, cmd.ErrOrStderr(), c, s.Namespace, "clusters")
				}
				return show(cmd.OutOrStdout(), asJSON, all, err, writeClusters)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func writeClusters(w io.Writer, all []store.ClusterInfo) error {
	return writeTable(w, "", all, func(c store.ClusterInfo) []any {
		last := "-"
		if !c.LastTimestamp.IsZero() {
			last = localTime(c.LastTimestamp)
		}
		return []any{c.Cluster, c.Messages, last}
	})
}

// noCluster is the error of a cluster without messages.
func noCluster(name string) error { return fmt.Errorf("cluster %q: %w", name, ragctx.ErrNotFound) }

func newLedgerDelete(env lookupEnv) *cobra.Command {
	var erase bool
	cmd := clusterCommand(env, &cobra.Command{
		Use:     "delete CLUSTER",
		Aliases: []string{"erase"}, // which is --erase
		Short:   "Erase a cluster's messages",
		Long: "Delete erases all messages of a cluster from the database and its files. This cannot be\n" +
			"undone, so the command requires --erase.",
		Example: `  ragctx ledger delete issue-17 --erase`,
	}, exactly(1, "one CLUSTER"), func(ctx context.Context, cmd *cobra.Command, c *client, f ledger.Filter, _ []string) error {
		if !erase && cmd.CalledAs() != "erase" {
			return errEraseMissing()
		}
		erased, err := c.EraseCluster(ctx, f.Namespace, f.Cluster)
		if err == nil && erased.Messages == 0 {
			err = noCluster(f.Cluster)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "erased %s\n", amount(erased.Messages, "message"))
		return err
	})
	eraseFlag(cmd.Flags(), &erase)
	return cmd
}
