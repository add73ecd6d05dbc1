package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// MaxMessages is the largest number of messages of one turn.
const MaxMessages = 1000

// ValidateTurn checks a turn against the documented limits.
func ValidateTurn(t ragctx.Turn) error {
	for _, f := range [...]struct{ field, value string }{
		{"id", t.ID},
		{"namespace", t.Namespace},
		{"user_id", t.UserID},
		{"agent_id", t.AgentID},
		{"session_id", t.SessionID},
		{"execution_id", t.ExecutionID},
	} {
		if err := ragctx.ValidName(f.field, f.value); err != nil {
			return err
		}
	}
	if err := ragctx.ValidTime("occurred", t.Occurred); err != nil {
		return err
	}
	if c := t.Confidence; c != nil && !(*c >= 0 && *c <= 1) {
		return ragctx.Invalid("confidence", "is %v; use 0 to 1", *c)
	}
	if err := ragctx.ValidText("prompt", t.Prompt); err != nil {
		return err
	}
	if err := ragctx.ValidText("response", t.Response); err != nil {
		return err
	}
	if len(t.Messages) > 0 && t.Prompt+t.Response != "" {
		return ragctx.Invalid("messages", "must not be combined with prompt or response; send one or the other")
	}
	if len(t.Messages) > MaxMessages {
		return ragctx.Invalid("messages", "lists %d messages; the limit is %d: send a turn at a time", len(t.Messages), MaxMessages)
	}
	for i, m := range t.Messages {
		if _, err := ragctx.ParseRole(string(m.Role)); err != nil {
			return ragctx.Invalid(fmt.Sprintf("messages[%d].role", i), "%q is not a role; use system, developer, "+
				"user, assistant or tool", ragctx.Clip(string(m.Role)))
		}
		if err := ragctx.ValidText(fmt.Sprintf("messages[%d].content", i), m.Content.String()); err != nil {
			return err
		}
		if err := ragctx.ValidName(fmt.Sprintf("messages[%d].name", i), m.Name); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(t.Transcript(), hasContent) {
		return ragctx.Invalid("messages", "are empty; send prompt and response, or messages with content")
	}
	return nil
}

// hasContent reports whether a message contains more than white space.
func hasContent(m ragctx.Message) bool {
	return strings.TrimSpace(m.Reasoning) != "" || slices.ContainsFunc(m.Content, func(b ragctx.Block) bool {
		return b.Type != ragctx.BlockText || strings.TrimSpace(b.Text) != ""
	})
}

// Episode returns the memory of a turn, its chunks, and the speaker of each chunk. It returns nil
// for a turn without spoken words. Each message begins a chunk, so that a hit knows its speaker.
// System messages and tool traffic are stored with the turn, but are not part of the episode.
// Neither is context of this program that came back with the prompt.
func Episode(t ragctx.Turn) (m *ragctx.Memory, chunks []chunk.Chunk, speakers []index.Speaker, err error) {
	var text strings.Builder
	var at chunk.Pos
	at.Line = 1
	for _, message := range t.Transcript() {
		entry := transcriptEntry(message)
		if entry == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
			at.Byte, at.Rune, at.Line = at.Byte+1, at.Rune+1, at.Line+1
		}
		for _, c := range Chunks(entry) {
			c.Ordinal = len(chunks)
			c.Start, c.End = shift(c.Start, at), shift(c.End, at)
			chunks = append(chunks, c)
			speakers = append(speakers, index.Speaker{
				Role: cmp.Or(message.Role, ragctx.RoleUser),
				Name: message.Name, Timed: timed(c.Text),
			})
		}
		text.WriteString(entry)
		at.Byte += len(entry)
		at.Rune += utf8.RuneCountInString(entry)
		at.Line += strings.Count(entry, "\n")
	}
	if text.Len() == 0 {
		return nil, nil, nil, nil
	}
	m = &ragctx.Memory{
		ID: t.ID, Namespace: t.Namespace, UserID: t.UserID, AgentID: t.AgentID, SessionID: t.SessionID,
		Type: ragctx.MemoryEpisodic, Content: text.String(), Importance: ragctx.DefaultImportance,
		Tags: t.Tags, Metadata: t.Metadata, Occurred: t.Occurred,
	}
	return m, chunks, speakers, m.Validate()
}

// transcriptEntry returns a message as an entry of a transcript, or "". It indents all but the first line,
// so that only the first line can name a speaker.
func transcriptEntry(m ragctx.Message) string {
	switch m.Role {
	case ragctx.RoleSystem, ragctx.RoleDeveloper, ragctx.RoleTool:
		return ""
	default:
	}
	s := strings.TrimSpace(WithoutBlocks(m.Content.String()))
	if s == "" {
		return ""
	}
	lines := strings.Split(redact.Lines(speaker(m)+": "+s, ""), "\n")
	for i, line := range lines[1:] {
		if line != "" {
			lines[i+1] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// speaker returns the speaker of a message. It ignores a name that could be mistaken for another
// role.
func speaker(m ragctx.Message) string {
	role := cmp.Or(m.Role, ragctx.RoleUser)
	name, _ := redact.Visible(m.Name)
	name = strings.Join(strings.Fields(strings.ReplaceAll(name, ":", " ")), " ")
	if name == "" {
		return string(role)
	}
	if other, err := ragctx.ParseRole(redact.FoldLookalikes(name)); err == nil && other != role {
		return string(role)
	}
	return name
}

// shift moves a position within a message to its position in the transcript.
func shift(p, by chunk.Pos) chunk.Pos {
	return chunk.Pos{Byte: p.Byte + by.Byte, Line: p.Line + by.Line - 1, Rune: p.Rune + by.Rune}
}
