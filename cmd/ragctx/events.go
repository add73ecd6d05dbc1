package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/events"
)

const eventsHelp = `Events prints what happens in a server as it happens, until it is interrupted: which
contexts were resolved, which memories stored, found, shown and cleared, what could not
be saved. It takes up again where it was when the server has been away; what it missed
by then is named in an event of its own, events_lost.

It needs a server: nobody else can do anything while a command has the data directory
open. Without --namespace it shows all namespaces.`

// eventTeller tells events; a server does.
type eventTeller interface {
	FollowEvents(ctx context.Context, f events.Filter, after *uint64) iter.Seq2[ragctx.Event, error]
}

func newEvents(env lookupEnv) *cobra.Command {
	var types []string
	var most int
	var session, after string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show what happens in a server",
		Long:  eventsHelp,
		Example: `  ragctx events
  ragctx events --type memory_stored --type memory_recalled --namespace team
  ragctx events --json | jq .data`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withBackend(cmd, env, func(ctx context.Context, s settings, b backend) error {
				server, ok := b.(eventTeller)
				if !ok {
					return badUsage("events are told by a server, and none has the data directory; start one with 'ragctx serve'")
				}
				f := events.Filter{Session: session}
				if s.origin["namespace"] != fromDefault {
					f.Namespace = s.Namespace
				}
				for _, t := range types {
					f.Types = append(f.Types, ragctx.EventType(t))
				}
				var place *uint64
				if after != "" {
					n, err := strconv.ParseUint(after, 10, 63)
					if err != nil {
						return badUsage("--after: is %q; use the sequence of an event", ragctx.Clip(after))
					}
					place = &n
				}
				left := most
				for ev, err := range server.FollowEvents(ctx, f, place) {
					if err == nil {
						err = writeEvent(cmd.OutOrStdout(), ev, asJSON)
					}
					if err != nil {
						return err
					}
					if left--; left == 0 {
						break
					}
				}
				return nil
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	flags := cmd.Flags()
	flags.StringArrayVar(&types, "type", nil, "only events of this type; may be repeated")
	flags.StringVar(&session, "session", "", "only events of this session")
	flags.StringVar(&after, "after", "", "begin after this sequence, with what the server keeps; default is now")
	countVar(flags, &most, "count", 0, 1, noLimit, "end after so many events")
	flags.BoolVar(&asJSON, "json", false, "print events as JSON, one to a line")
	return cmd
}

func eventTypes() (names []string) {
	for _, t := range ragctx.EventTypes() {
		names = append(names, string(t))
	}
	return names
}

// writeEvent prints an event in a line.
func writeEvent(w io.Writer, ev ragctx.Event, asJSON bool) error {
	of := any(ev)
	if !asJSON {
		of = ev.Data
	}
	text, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	line := string(text)
	if !asJSON {
		line = fmt.Sprintf("%s %s %s %s", ev.Time.Format(time.RFC3339), ev.Type, printable(ev.Namespace), printable(line))
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}
