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

// mostSaid bounds the memories of a session that are compared with what is shown of it.
const mostSaid = 500

// said returns the ids of a session's memories whose words all stand in messages: a turn
// that is told to [Engine.CompleteTurn] is remembered, and a model that sees the turn itself
// need not be shown it again. Pinned memories and those about the user are not among them:
// they are in every prompt, whatever is said.
func (e *Engine) said(ctx context.Context, k session.Key, q ragctx.ContextQuery, shown []ragctx.Message) ([]string, error) {
	// Each exchange is two messages, and was hardly worth more than two memories.
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

// talk is what users and models say in messages.
type talk struct {
	text     string // white space reduced to single spaces, each message on a line
	redacted func() string
	speakers map[string]bool // as transcripts name them
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
	t.redacted = sync.OnceValue(func() string { // it takes its time, and few memories need it
		out, _ := memory.RedactText(secret.String())
		return " " + plain(out) + " "
	})
	return t
}

// has reports whether all that a memory says was said.
func (t talk) has(content string) bool {
	for _, said := range entries(content) {
		who, words, named := strings.Cut(said, ": ")
		if !t.says(said) && !(named && t.speakers[who] && t.says(words)) {
			return false
		}
	}
	return true
}

// says reports whether words were said as they are, or but for secrets.
func (t talk) says(words string) bool {
	words = " " + words + " "
	return strings.Contains(t.text, words) || strings.Contains(words, "[redacted: ") && strings.Contains(t.redacted(), words)
}

// entries returns the entries of a transcript, whose further lines are indented, and of any
// other text about its lines.
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

// plain returns a text with its white space reduced to single spaces.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }
