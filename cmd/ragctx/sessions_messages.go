package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/session"
)

// maxAppendBytes bounds one append.
const maxAppendBytes = 32 << 20

func newSessionsAppend(env lookupEnv) *cobra.Command {
	var r api.AppendRequest
	var role, file string
	var asJSON bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "append SESSION [TEXT]", Short: "Append messages",
		Long: "Append adds a message to a session and prints its id once it is on disk. TEXT - is read from\n" +
			"standard input. With --messages it adds a JSON list of messages, in ragctx's form or a\n" +
			"vendor's, all of them or none.",
		Example: `  ragctx sessions append s-42 "How do I roll back?" --create
  ragctx sessions append s-42 "With 'deploy undo'." --role assistant
  jq .messages chat.json | ragctx sessions append s-42 --messages - --format openai --create`,
	}, between(1, 2, "one SESSION and at most one TEXT"), func(ctx context.Context, t sessionClient) error {
		var err error
		if r.Messages, err = t.messages(role, file); err != nil {
			return err
		}
		done, err := t.AppendToSession(ctx, t.key, r)
		if err != nil || asJSON {
			return writeUnless(err, t.out, done)
		}
		for _, l := range done.Losses {
			fmt.Fprintf(t.err, "message %d: %s cannot be kept\n", l.Index, printable(l.What))
		}
		for _, m := range done.Messages {
			fmt.Fprintln(t.out, printable(m.ID))
		}
		return nil
	})
	flags := cmd.Flags()
	choiceVar(flags, &role, "role", string(ragctx.RoleUser), roles, "role of TEXT: "+strings.Join(roles, ", "))
	flags.StringVar(&file, "messages", "", "file of a JSON list of messages in the place of TEXT; - is standard input")
	choiceVar(flags, &r.Format, "format", "", forms, formatHelp("the messages"))
	flags.StringVar(&r.Section, "section", "", "section of the messages (default messages, the conversation)")
	flags.StringVar(&r.ParentID, "parent", "", "message before them (default the newest)")
	flags.BoolVar(&r.Create, "create", false, "make the session if it does not exist")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// The roles and forms of messages.
var (
	roles = []string{
		string(ragctx.RoleUser), string(ragctx.RoleAssistant), string(ragctx.RoleSystem),
		string(ragctx.RoleDeveloper), string(ragctx.RoleTool),
	}
	forms = []string{"ragctx", "openai", "anthropic", "gemini"}
)

func formatHelp(of string) string {
	return fmt.Sprintf("form of %s: %s (default %s)", of, strings.Join(forms, ", "), forms[0])
}

// messages returns the messages to append.
func (t sessionClient) messages(role, file string) ([]json.RawMessage, error) {
	switch {
	case file == "" && len(t.args) == 0:
		return nil, badUsage("there is nothing to append; give a TEXT, or --messages")
	case file != "" && len(t.args) > 0:
		return nil, badUsage("a TEXT and --messages exclude each other")
	case file == "":
		text, err := textArg(t.args[0], t.in, maxAppendBytes)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(ragctx.TextMessage(ragctx.Role(role), text))
		return []json.RawMessage{raw}, err
	}
	b, err := readBody([]string{file}, t.in)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s is no JSON list of messages: %w", file, err)
	}
	return list, nil
}

func newSessionsMessages(env lookupEnv) *cobra.Command {
	var section, leaf string
	var most int
	var asJSON bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "messages SESSION", Short: "Show the stored messages",
		Long: "Messages prints the newest messages of a session word for word, oldest first: the messages\n" +
			"of the current branch, of another branch with --leaf, or of a section. 'ragctx sessions\n" +
			"compile' shows a model's view instead.",
		Example: `  ragctx sessions messages s-42
  ragctx sessions messages s-42 --limit 5 --json | jq '.[].content'`,
	}, exactly(1, "one SESSION"), func(ctx context.Context, t sessionClient) error {
		all, err := t.newest(ctx, section, leaf, most)
		return show(t.out, asJSON, all, err, writeMessages)
	})
	flags := cmd.Flags()
	flags.StringVar(&section, "section", "", "only messages of this section, of all branches")
	flags.StringVar(&leaf, "leaf", "", "last message of another branch")
	limitFlag(flags, &most, 20, 1, noLimit)
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// newest returns the newest messages. The server bounds its pages.
func (t sessionClient) newest(ctx context.Context, section, leaf string, most int) ([]api.SessionMessage, error) {
	all, cursor := []api.SessionMessage{}, ""
	for {
		page, err := t.SessionMessages(ctx, t.key, section, leaf, cursor, min(most-len(all), 1000))
		if err != nil {
			return nil, err
		}
		all, cursor = append(page.Messages, all...), page.NextCursor
		if cursor == "" || len(all) >= most {
			return all, nil
		}
	}
}

// writeMessages prints messages for people.
func writeMessages(w io.Writer, all []api.SessionMessage) error {
	for _, m := range all {
		about := fmt.Sprintf("%s  %s  %s", printable(m.ID), localTime(m.CreatedAt), m.Role)
		if m.Name != "" {
			about += " " + printable(m.Name)
		}
		if m.Section != session.SectionMessages {
			about += "  in " + printable(m.Section)
		}
		if m.Label != "" {
			about += "  [" + printable(m.Label) + "]"
		}
		if err := writeMessage(w, about, m.Message); err != nil {
			return err
		}
	}
	return nil
}

// writeMessage prints the content of a message below the line about it.
func writeMessage(w io.Writer, about string, m ragctx.Message) error {
	if _, err := fmt.Fprintln(w, about); err != nil {
		return err
	}
	for _, part := range contentParts(m.Content) {
		for line := range strings.Lines(strings.TrimRight(part, "\n")) {
			if _, err := fmt.Fprintf(w, "    %s\n", visible(strings.TrimRight(line, "\r\n"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// contentParts returns the parts of a content as texts.
func contentParts(c ragctx.Content) []string {
	var out []string
	for _, b := range c {
		switch b.Type {
		case ragctx.BlockText:
			out = append(out, b.Text)
		case ragctx.BlockImage:
			out = append(out, fmt.Sprintf("(an image, %s)", b.MediaType))
		case ragctx.BlockToolUse:
			out = append(out, fmt.Sprintf("%s calls %s %s", b.ID, b.Name, b.Input))
		case ragctx.BlockToolResult:
			failed := ""
			if b.IsError {
				failed = ", which failed"
			}
			out = append(out, fmt.Sprintf("result of %s%s", b.ToolUseID, failed))
			out = append(out, contentParts(b.Content)...)
		case ragctx.BlockVendor:
			out = append(out, fmt.Sprintf("(as only %s has it) %s", b.Form, b.Part))
		}
	}
	return out
}
