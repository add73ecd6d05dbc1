package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
)

const statusHelp = `Status shows the state of a data directory and its server: contents, sizes, jobs, and
current problems. It shows figures that are known already; 'ragctx doctor' checks
everything.

The exit status is 1 if there is a problem. With --quiet it prints nothing, and the exit
status reports only whether a server can answer. That is a health check; it does not open
the data directory.`

// report is a status and its origin.
type report struct {
	// Server is the server's URL; empty with an engine in this process.
	Server string `json:"server,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Data   string `json:"data,omitempty"`
	api.Status
}

func newStatus(env lookupEnv) *cobra.Command {
	var quiet, asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the server and its data",
		Long:  statusHelp,
		Example: `  ragctx status
  ragctx status --json | jq .total
  ragctx status --quiet && echo ready`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := load(cmd, env)
			if err != nil {
				return err
			}
			if quiet {
				return silenced(s.ready(cmd.Context()))
			}
			return runStatus(cmd, env, s, asJSON)
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing if a server can answer, and fail if none can")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func runStatus(cmd *cobra.Command, env lookupEnv, s settings, asJSON bool) (err error) {
	ctx := cmd.Context()
	c, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(c, &err)
	r := report{Server: c.URL, PID: c.PID}
	if s.Server == "" {
		r.Data = s.Data
	}
	if r.Status, err = c.Status(ctx); err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(cmd.OutOrStdout(), r)
	} else {
		writeStatus(cmd.OutOrStdout(), r, widthOf(cmd.OutOrStdout(), env))
	}
	if err == nil && len(r.Degraded) > 0 {
		err = errors.New("something does not work as it should; see above")
	}
	return err
}

// readyWithin is the timeout of a health check.
const readyWithin = 5 * time.Second

// ready reports whether the server of the settings can answer. It does not open the data directory,
// which would block a server that is starting.
func (s settings) ready(ctx context.Context) error {
	var url string
	var as api.ClientOptions
	var err error
	if s.Server != "" {
		if url, err = serverURL(s.Server); err == nil {
			as, err = s.client()
		}
	} else if o := engine.OwnerOf(s.Data); o.Address != "" {
		url, as = serverAddress(o)
	} else {
		err = fmt.Errorf("%w: no server has the data directory %s", ragctx.ErrUnavailable, s.Data)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	c := api.NewClientWith(url, as)
	defer c.Close()
	return c.Readyz(ctx)
}

// silenced replaces an error by [errSilent], except mistakes in the command line.
func silenced(err error) error {
	var usage *usageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	return errSilent
}

// writeStatus prints a status; width is the terminal's, or 0.
func writeStatus(w io.Writer, r report, width int) {
	if r.Server != "" {
		fmt.Fprintf(w, "server: %s", r.Server)
		if r.PID != 0 {
			fmt.Fprintf(w, ", process %d", r.PID)
		}
		fmt.Fprintf(w, ", version %s, up %s\n", printable(r.Version), time.Duration(r.UptimeSeconds)*time.Second)
	} else {
		fmt.Fprintln(w, "server: none ('ragctx serve' starts one)")
	}
	if r.Data != "" {
		fmt.Fprintf(w, "data directory: %s\n", printable(r.Data))
	}
	if !r.Leads {
		fmt.Fprintf(w, "this node follows %s, which writes\n", cmp.Or(printable(r.Leader), "another one"))
	}
	d := r.Directory
	fmt.Fprintf(w, "size: %s (database %s, indexes %s, other %s)\n", size(d.Database+d.Indexes+d.Other), size(d.Database),
		size(d.Indexes), size(d.Other))
	writeEmbedder(w, r.Embedder)
	fmt.Fprintf(w, "jobs: %d running, %d waiting; since the start %d done, %d failed, %d cancelled\n",
		r.Jobs.Running, r.Jobs.Queued, r.Jobs.Done, r.Jobs.Failed, r.Jobs.Cancelled)
	fmt.Fprintf(w, "in all: %s, %s\n", amount(r.Total.Documents, "document"), amount(r.Total.Memories, "memory"))
	for _, n := range r.Namespaces {
		fmt.Fprintf(w, "  namespace %s: %s, %s\n", printable(n.Name), amount(n.Documents, "document"), amount(n.Memories, "memory"))
	}
	writeTroubles(w, r.RecentErrors, width)
	writeDegraded(w, r.Degraded)
	if len(r.Degraded) == 0 {
		fmt.Fprintln(w, "everything works")
	}
}

// writeTroubles prints recent warnings and errors, a line each.
func writeTroubles(w io.Writer, list []engine.Trouble, width int) {
	for _, t := range list {
		times := ""
		if t.Count > 1 {
			times = fmt.Sprintf(" (%s)", amount(t.Count, "time"))
		}
		line := fmt.Sprintf("%s %s%s %s %s", localTime(t.Time), t.Level, times, printable(t.Message), printable(t.Details))
		fmt.Fprintln(w, fitted(strings.TrimRight(line, " "), width))
	}
}

// writeDegraded prints what does not work, a line each.
func writeDegraded(w io.Writer, what []string) {
	for _, d := range what {
		fmt.Fprintln(w, "NOT WELL:", printable(d))
	}
}
