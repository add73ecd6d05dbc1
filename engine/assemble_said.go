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

// mostSaid bounds the memories of a session that are compared with its visible messages.
const mostSaid = 500

// said returns the ids of a session's memories whose words all appear in the shown messages. Every
// turn passed to [Engine.CompleteTurn] becomes a memory, and a model that sees the turn itself does
// not need the memory as well. Pinned memories and profile memories are not returned: they belong
// in every prompt.
func (e *Engine) said(ctx context.Context, k session.Key, q ragctx.ContextQuery, shown []ragctx.Message) ([]string, error) {
	// An exchange has two messages and rarely yields more than two memories.
	most := min(2*len(shown), mostSaid, ragctx.MaxResultsLimit-len(q.Exclude))
	if most < 1 || !q.Wants(ragctx.TypeMemory) {
		return nil, nil
	}
	list, _, err := e.ListMemories(ctx, k.Namespace, store.MemoryFilter{
		UserID: k.User, Own: true, SessionID: k.ID, Exclude: q.Exclude, AsOf: q.AsOf, Order: store.ByRecency, Limit: most,
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var ids []string
	t := newTalk(shown)
	for _, m := range list {
		if !m.Pinned && !m.Profile && t.has(m.Content) {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

// talk is the text of user and assistant messages, prepared for substring search.
type talk struct {
	text     string // one line per message, with white space collapsed
	redacted func() string
	speakers map[string]bool // speaker names as transcripts write them
}

func newTalk(messages []ragctx.Message) talk {
	t := talk{speakers: make(map[string]bool)}
	var text, secret strings.Builder
	for _, m := range messages {
		switch m.Role {
		case ragctx.RoleSystem, ragctx.RoleDeveloper, ragctx.RoleTool:
			continue
		default:
		}
		said := memory.WithoutBlocks(m.Content.String())
		if said == "" {
			continue
		}
		secret.WriteString(said + "\n")
		text.WriteString(" " + plain(said) + " \n")
		t.speakers[string(m.Role)], t.speakers[plain(m.Name)] = true, true
	}
	t.text = text.String()
	t.redacted = sync.OnceValue(func() string { // computed lazily: it is slow, and few memories need it
		out, _ := memory.RedactText(secret.String())
		return " " + plain(out) + " "
	})
	return t
}

// has reports whether every entry of a memory's content appears in the messages.
func (t talk) has(content string) bool {
	for _, said := range entries(content) {
		who, words, named := strings.Cut(said, ": ")
		if !t.says(said) && !(named && t.speakers[who] && t.says(words)) {
			return false
		}
	}
	return true
}

// says reports whether words appear in the messages, literally or after redaction.
func (t talk) says(words string) bool {
	words = " " + words + " "
	return strings.Contains(t.text, words) || strings.Contains(words, "[redacted: ") && strings.Contains(t.redacted(), words)
}

// entries splits a transcript into its entries (continuation lines are indented), and any other
// text into its lines.
func entries(content string) (out []string) {
	for line := range strings.Lines(content) {
		words := plain(line)
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

// plain returns s with white space collapsed to single spaces.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }
