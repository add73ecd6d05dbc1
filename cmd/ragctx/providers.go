package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/httpclient"
)

const providersHelp = `Providers are what is asked for context: documents, memories, procedures and ledgers,
which are built in, and programs of your own behind URLs, which the setting providers
names. One of the scope session is asked only in sessions that have added it.`

func newProviders(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "providers",
		Short: "List providers, and choose those of a session",
		Long:  providersHelp,
		Example: `  ragctx providers list
  ragctx providers add crm --session s-42
  ragctx providers list --session s-42
  ragctx providers remove crm --session s-42`,
	}
	group(cmd)
	cmd.AddCommand(newProvidersList(env), newProvidersAdd(env), newProvidersRemove(env))
	return cmd
}

// sessionFlags say which session is meant.
func sessionFlags(cmd *cobra.Command, k *engine.SessionKey, help string) {
	addSettings(cmd.Flags(), "server", providersSetting)
	cmd.Flags().StringVar(&k.SessionID, "session", "", help)
	cmd.Flags().StringVar(&k.UserID, "user", "", "user whose session it is (default none)")
}

func newProvidersList(env lookupEnv) *cobra.Command {
	var k engine.SessionKey
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the providers, or those that a session has added", Args: none,
		Example: "  ragctx providers list --session s-42",
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
			w := cmd.OutOrStdout()
			if k.SessionID == "" {
				list, err := c.ListProviders(ctx)
				return show(w, asJSON, list, err, writeProviders)
			}
			k.Namespace = s.Namespace
			list, err := c.SessionProviders(ctx, k)
			return show(w, asJSON, list, err, writeSessionProviders)
		})
	}
	sessionFlags(cmd, &k, "a session, whose own providers are listed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// show writes a list unless there is an error.
func show[T any](w io.Writer, asJSON bool, list []T, err error, table func(io.Writer, []T) error) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return writeJSON(w, list)
	case len(list) == 0:
		return nil
	}
	return table(w, list)
}

func writeProviders(w io.Writer, list []engine.ProviderInfo) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tKIND\tSCOPE\tON FAILURE\tTURNS\tSTATE")
	for _, p := range list {
		turns := "-"
		if p.Turns {
			turns = "told"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(p.Name), p.Kind, p.Scope, failures[p.FailureMode], turns, asked(p.Breaker))
	}
	return tw.Flush()
}

// failures say what becomes of an answer when a provider fails.
var failures = map[string]string{"best_effort": "answered without", "fail_closed": "answer fails"}

// asked says whether a provider is asked at present.
func asked(b *engine.BreakerInfo) string {
	switch {
	case b == nil || b.State == httpclient.Closed:
		return "asked"
	case b.State == httpclient.Open && b.Until.After(time.Now()):
		return "fails; left alone until " + localTime(b.Until)
	default:
		return "fails; the next question tries it"
	}
}

func writeSessionProviders(w io.Writer, list []engine.SessionProvider) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tADDED\tSTATE")
	for _, p := range list {
		state := "asked"
		if !p.Available {
			state = "not offered any more"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", printable(p.Name), p.Added.Local().Format(minuteStamp), state)
	}
	return tw.Flush()
}

// sessionProviderCommand completes a command that changes which providers a session asks.
func sessionProviderCommand(env lookupEnv, cmd *cobra.Command, run func(context.Context, *client, engine.SessionKey, string) (string, error)) *cobra.Command {
	var k engine.SessionKey
	cmd.Args = exactly(1, "one NAME")
	sessionFlags(cmd, &k, "the session")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if k.SessionID == "" {
			return badUsage("--session is missing; name the session")
		}
		return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
			k.Namespace = s.Namespace
			said, err := run(ctx, c, k, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		})
	}
	return cmd
}

func newProvidersAdd(env lookupEnv) *cobra.Command {
	return sessionProviderCommand(env, &cobra.Command{
		Use: "add NAME", Short: "Have a session ask a provider", Example: "  ragctx providers add crm --session s-42",
	}, func(ctx context.Context, c *client, k engine.SessionKey, name string) (string, error) {
		added, err := c.UseProvider(ctx, k, name)
		if added {
			return "added", err
		}
		return "the session asks it already", err
	})
}

func newProvidersRemove(env lookupEnv) *cobra.Command {
	return sessionProviderCommand(env, &cobra.Command{
		Use: "remove NAME", Short: "End that a session asks a provider", Example: "  ragctx providers remove crm --session s-42",
	}, func(ctx context.Context, c *client, k engine.SessionKey, name string) (string, error) {
		removed, err := c.RemoveProvider(ctx, k, name)
		if removed {
			return "removed", err
		}
		return "the session did not ask it", err
	})
}
