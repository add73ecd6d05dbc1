package engine

import (
	"context"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/session"
)

// maxRepeats bounds the memories of a session that are compared with its visible messages.
const maxRepeats = 500

// repeatedMemories returns the ids of a session's memories that only repeat the shown messages. Every
// turn passed to [Engine.CompleteTurn] becomes a memory, and a model that sees the turn itself does
// not need the memory as well. Pinned memories and profile memories are not returned: they belong
// in every prompt.
func (e *core) repeatedMemories(
	ctx context.Context, k session.Key, q ragctx.ContextQuery, shown []ragctx.Message,
) ([]string, error) {
	// An exchange has two messages and rarely yields more than two memories.
	limit := min(2*len(shown), maxRepeats, ragctx.MaxResultsLimit-len(q.Exclude))
	if limit < 1 || !q.Wants(ragctx.TypeMemory) {
		return nil, nil
	}
	list, _, err := e.Memories().List(ctx, k.Namespace, store.MemoryFilter{
		UserID: k.User, Own: true, SessionID: k.ID, Exclude: q.Exclude, AsOf: q.AsOf, Order: store.ByRecency, Limit: limit,
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var ids []string
	t := newSpokenText(shown)
	for _, m := range list {
		if !m.Pinned && !m.Profile && t.contains(m.Content) {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

// spokenText is the text of user and assistant messages, prepared for substring search.
type spokenText struct {
	text     string // one line per message, with white space collapsed
	redacted func() string
	speakers map[string]bool // speaker names as transcripts write them
}

func newSpokenText(messages []ragctx.Message) spokenText {
	t := spokenText{speakers: make(map[string]bool)}
	var text, raw strings.Builder
	for _, m := range messages {
		switch m.Role {
		case ragctx.RoleSystem, ragctx.RoleDeveloper, ragctx.RoleTool:
			continue
		default:
		}
		content := memory.WithoutBlocks(m.Content.String())
		if content == "" {
			continue
		}
		raw.WriteString(content + "\n")
		text.WriteString(" " + collapseSpaces(content) + " \n")
		t.speakers[string(m.Role)], t.speakers[collapseSpaces(m.Name)] = true, true
	}
	t.text = text.String()
	t.redacted = sync.OnceValue(func() string { // computed lazily: it is slow, and few memories need it
		out, _ := memory.RedactText(raw.String())
		return " " + collapseSpaces(out) + " "
	})
	return t
}

// contains reports whether every entry of a memory's content appears in the messages.
func (t spokenText) contains(content string) bool {
	for _, entry := range transcriptEntries(content) {
		speaker, words, named := strings.Cut(entry, ": ")
		if !t.containsWords(entry) && !(named && t.speakers[speaker] && t.containsWords(words)) {
			return false
		}
	}
	return true
}

// containsWords reports whether words appear in the messages, literally or after redaction.
func (t spokenText) containsWords(words string) bool {
	words = " " + words + " "
	return strings.Contains(t.text, words) || strings.Contains(words, "[redacted: ") &&
		strings.Contains(t.redacted(), words)
}

// transcriptEntries splits a transcript into its entries (continuation lines are indented), and any other
// text into its lines.
func transcriptEntries(content string) (out []string) {
	for line := range strings.Lines(content) {
		words := collapseSpaces(line)
		switch {
		case words == "":
		case len(out) > 0 && strings.HasPrefix(line, "  "):
			out[len(out)-1] += " " + words
		default:
			out = append(out, words)
		}
	}
	return out
}

// collapseSpaces returns s with white space collapsed to single spaces.
func collapseSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }
