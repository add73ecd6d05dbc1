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
names. A provider of the scope session is asked only in sessions that have added it, which
'ragctx api' does: PUT, DELETE and GET /v1/sessions/SESSION/providers/NAME.`

func newProviders(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "providers",
		Short: "List providers",
		Long:  providersHelp,
		Example: `  ragctx providers list
  ragctx api PUT /v1/sessions/s-42/providers/crm`,
	}
	group(cmd)
	cmd.AddCommand(newProvidersList(env))
	return cmd
}

func newProvidersList(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the providers", Args: none,
		Example: "  ragctx providers list",
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
			list, err := c.ListProviders(ctx)
			return show(cmd.OutOrStdout(), asJSON, list, err, writeProviders)
		})
	}
	addSettings(cmd.Flags(), "server", providersSetting)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// show prints a list unless there is an error.
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
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(p.Name), p.Kind, p.Scope, failureTexts[p.FailureMode], turns,
			breakerText(p.Breaker))
	}
	return tw.Flush()
}

// failureTexts are the texts of failure modes.
var failureTexts = map[string]string{"best_effort": "answered without", "fail_closed": "answer fails"}

// breakerText returns the state of a provider's breaker.
func breakerText(b *engine.BreakerInfo) string {
	switch {
	case b == nil || b.State == httpclient.Closed:
		return "asked"
	case b.State == httpclient.Open && b.Until.After(time.Now()):
		return "fails; left alone until " + localTime(b.Until)
	default:
		return "fails; the next question tries it"
	}
}
