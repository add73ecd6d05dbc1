package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

const eventsHelp = `Events prints the events of a server as they happen, until it is interrupted: contexts that
were resolved, memories that were stored, found, shown and cleared, and failed writes. After
a connection is lost, it continues at the same place. The event events_lost names events
that the server no longer has.

The command needs a server. Without --namespace it shows all namespaces.`

func newEvents(env lookupEnv) *cobra.Command {
	var types []string
	var most int
	var session, after string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show the events of a server",
		Long:  eventsHelp,
		Example: `  ragctx events
  ragctx events --type memory_stored --type memory_recalled --namespace team
  ragctx events --json | jq .data`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				if c.local != nil {
					return errors.New("no server has the data directory open; start one with 'ragctx serve', which has events")
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
				for ev, err := range c.FollowEvents(ctx, f, place) {
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
	flags.StringVar(&after, "after", "", "begin after this sequence, with the events that the server keeps; default is now")
	limitFlag(flags, &most, 0, 1, noLimit)
	linesFlag(cmd.Flags(), &asJSON)
	return cmd
}

func eventTypes() (names []string) {
	for _, t := range ragctx.EventTypes() {
		names = append(names, string(t))
	}
	return names
}

// writeEvent prints an event in one line, as JSON or for people.
func writeEvent(w io.Writer, ev ragctx.Event, asJSON bool) error {
	line := ""
	if asJSON {
		text, err := json.Marshal(ev)
		if err != nil {
			return fmt.Errorf("write event: %w", err)
		}
		line = string(text)
	} else {
		told, err := eventText(ev)
		if err != nil {
			return err
		}
		line = printable(told)
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// eventText returns an event for people: time, type, namespace, session, user, and its data as
// name=value in the documented order.
func eventText(ev ragctx.Event) (string, error) {
	parts := []string{localTime(ev.Time), string(ev.Type)}
	for _, p := range []struct{ name, value string }{{"namespace", ev.Namespace}, {"session", ev.SessionID}, {"user", ev.UserID}} {
		if p.value != "" {
			parts = append(parts, p.name+"="+wordText(p.value))
		}
	}
	data, err := json.Marshal(ev.Data)
	if err != nil {
		return "", fmt.Errorf("write event: %w", err)
	}
	var fields map[string]any // data is an object, or null if empty
	if err := json.Unmarshal(data, &fields); err != nil {
		return "", fmt.Errorf("read event: %w", err)
	}
	delete(fields, "session_id") // printed already
	for _, name := range slices.SortedFunc(maps.Keys(fields), byFieldOrder(ev.Type)) {
		parts = append(parts, name+"="+valueText(fields[name]))
	}
	return strings.Join(parts, " "), nil
}

// fieldsOf are the fields of events that come first.
var fieldsOf = map[ragctx.EventType][]string{
	ragctx.EventContextResolved:   {"total_items", "total_tokens"},
	ragctx.EventMemoryStored:      {"memory_id", "memory_type", "importance", "tags"},
	ragctx.EventMemoryRecalled:    {"memory_id", "relevance", "content"},
	ragctx.EventMemoriesSearched:  {"query", "result_count", "tags"},
	ragctx.EventMemoryCleared:     {"tier", "count"},
	ragctx.EventPersistenceFailed: {"operation", "error"},
	ragctx.EventEventsLost:        {"from", "to"},
}

// byFieldOrder compares names of fields: fieldsOf first, then alphabetically.
func byFieldOrder(t ragctx.EventType) func(a, b string) int {
	place := func(name string) int {
		if i := slices.Index(fieldsOf[t], name); i >= 0 {
			return i
		}
		return len(fieldsOf[t])
	}
	return func(a, b string) int { return cmp.Or(place(a)-place(b), strings.Compare(a, b)) }
}

// shownChars bounds the printed part of a value.
const shownChars = 160

// valueText returns a value for people.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return wordText(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		if len(v) == 0 {
			return "-"
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "-" // it was decoded from JSON
	}
	return sentence.Clip(string(text), shownChars)
}

// wordText returns text in one line, quoted unless it is a single word.
func wordText(s string) string {
	s = sentence.Clip(blanks.ReplaceAllLiteralString(s, " "), shownChars)
	if s == "" || strings.ContainsAny(s, " \"=") {
		return strconv.Quote(s)
	}
	return s
}
