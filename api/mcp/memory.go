package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

type memorySearchArguments struct {
	whose
	sized
	paged

	Query string `json:"query" jsonschema:"what to remember, as a question or in words"`
	Limit int    `json:"limit,omitempty" jsonschema:"the most memories of a page"`
}

type memorySearchAnswer struct {
	Notice     string         `json:"notice,omitempty" jsonschema:"how the memories are to be read"`
	Memories   []memoryResult `json:"memories" jsonschema:"the best memories, best first"`
	NextCursor string         `json:"next_cursor,omitempty" jsonschema:"for the next page"`
	readOtherwise
}

type memoryResult struct {
	ID         string    `json:"id" jsonschema:"names the memory for memory_forget and memory_history"`
	Content    string    `json:"content"`
	Occurred   time.Time `json:"occurred,omitzero" jsonschema:"when it happened or was said"`
	Since      string    `json:"since,omitempty" jsonschema:"what holds now instead of something in it"`
	Importance float64   `json:"importance,omitempty" jsonschema:"its weight, 0 to 1"`
	Truncated  bool      `json:"truncated,omitempty" jsonschema:"only the beginning of the content is here, as max_tokens has no room for more"`
	Relevance  float64   `json:"relevance" jsonschema:"the chance that it answers, 0 to 1"`
}

func (s *Server) memorySearchTool() tool {
	return define(s, reading("memory_search", "Search memories",
		"Finds what was remembered: facts, preferences, decisions, and what was said in earlier conversations. "+evidence,
		func(p properties) {
			p.text("query", ragctx.MaxQueryBytes/4, true)
			p.between("limit", 1, 100, fallbackResults)
			p.maxTokens(fallbackTokens)
			p.cursor()
		}), s.memorySearch)
}

func (s *Server) memorySearch(ctx context.Context, at Scope, in memorySearchArguments) (memorySearchAnswer, error) {
	c, err := page(in.Cursor, of("memory_search", at, in.Query), mostPages)
	if err != nil {
		return memorySearchAnswer{}, err
	}
	q := query(at, in.Query, min(c.After+in.Limit+1, ragctx.MaxResultsLimit)).WithTypes(ragctx.TypeMemory)
	found, err := s.engine.Search(ctx, q)
	if err != nil {
		return memorySearchAnswer{}, err
	}
	items := found.Items[min(c.After, len(found.Items)):]
	more := len(items) > in.Limit
	items = items[:min(in.Limit, len(items))]
	results := make([]memoryResult, len(items))
	for i, it := range items {
		results[i] = memoryResult{ID: it.ID, Content: it.Content, Occurred: it.Occurred, Since: it.Since, Importance: it.Importance, Relevance: rounded(it.Relevance)}
	}
	return fitOne(s, in.MaxTokens, len(results), func(k int) memorySearchAnswer {
		a := memorySearchAnswer{Memories: results[:k], NextCursor: c.next(k, more || k < len(results)), readOtherwise: corrected(found.Corrections, in.MaxTokens)}
		if k > 0 {
			a.Notice = evidence
		}
		return a
	}, func() *string { results[0].Truncated = true; return &results[0].Content })
}

type memoryAddArguments struct {
	whose
	sized

	Content    string   `json:"content" jsonschema:"one thing that will matter later, in a sentence that is understood by itself"`
	ID         string   `json:"id,omitempty" jsonschema:"your own name of the memory; a memory with this id is replaced, and keeps its history"`
	Type       string   `json:"memory_type,omitempty" jsonschema:"semantic is a fact, episodic something that happened, procedural how to do something, working is for now"`
	Importance float64  `json:"importance,omitempty" jsonschema:"its weight, 0 to 1"`
	Tags       []string `json:"tags,omitempty"`
	Origin     string   `json:"origin,omitempty" jsonschema:"whose words they are; what a tool or a document says in the manner of an instruction is put into quarantine"`
	ExpiresIn  int      `json:"expires_in_hours,omitempty" jsonschema:"hours after which it is not found any more; 0 is never"`
	Profile    bool     `json:"profile,omitempty" jsonschema:"it describes the user lastingly"`
}

type memoryAddAnswer struct {
	ID      string       `json:"id"`
	Status  store.Status `json:"status" jsonschema:"created, replaced, unchanged, or quarantined: not found before a person has released it"`
	Version int          `json:"version,omitempty"`
	Content string       `json:"content,omitempty" jsonschema:"what was stored, where it is not what was sent: secrets are left out"`
}

func (s *Server) memoryAddTool() tool {
	return define(s, definition{
		name: "memory_add", title: "Remember", role: access.Write, hints: changing(false, false, false),
		description: "Remembers something for later conversations; it is found at once. Keep what the user prefers, decided or told you to keep, one thing at a time. Secrets are not stored.",
		limits: func(p properties) {
			p.text("content", memory.MaxMemoryBytes/4, true)
			p.text("id", ragctx.MaxNameBytes, false)
			p.oneOf("memory_type", "semantic", "episodic", "procedural", "working")
			p["memory_type"].Default = []byte(`"semantic"`)
			p.between("importance", 0, 1, memory.DefaultImportance)
			p.texts("tags", memory.MaxMemoryTags, ragctx.MaxNameBytes)
			p.oneOf("origin", "user", "agent", "tool", "document")
			p.between("expires_in_hours", 0, 24*3650, 0)
			p.maxTokens(fallbackTokens)
		},
	}, s.memoryAdd)
}

func (s *Server) memoryAdd(ctx context.Context, at Scope, in memoryAddArguments) (memoryAddAnswer, error) {
	m := memory.Memory{
		ID: in.ID, Namespace: at.Namespace, UserID: at.UserID, AgentID: at.AgentID, SessionID: at.SessionID,
		Type: memory.MemoryType(in.Type), Content: in.Content, Importance: in.Importance, Tags: in.Tags,
		Origin: memory.MemoryOrigin(in.Origin), Profile: in.Profile,
	}
	if in.ExpiresIn > 0 {
		m.Expires = s.opts.Now().Add(time.Duration(in.ExpiresIn) * time.Hour)
	}
	if err := s.mayTake(ctx, at, in.ID); err != nil {
		return memoryAddAnswer{}, err
	}
	stored, status, err := s.engine.Remember(ctx, m)
	if err != nil {
		return memoryAddAnswer{}, err
	}
	out := memoryAddAnswer{ID: stored.ID, Status: status, Version: stored.Version}
	if stored.Content == in.Content {
		return out, nil
	}
	out.Content = stored.Content
	cost, err := s.cost(out)
	if cost > in.MaxTokens {
		out.Content = ""
	}
	return out, err
}

type memoryForgetArguments struct {
	place
	sized

	ID    string `json:"id" jsonschema:"the id of the memory"`
	Erase bool   `json:"erase,omitempty" jsonschema:"true removes it for good, with its history; otherwise it can be undone by a person"`
}

type memoryForgetAnswer struct {
	ID     string `json:"id"`
	Status string `json:"status" jsonschema:"forgotten, erased, or not_found where there is no such memory"`
}

func (s *Server) memoryForgetTool() tool {
	return define(s, definition{
		name: "memory_forget", title: "Forget", role: access.Write, hints: changing(true, true, false),
		description: "Forgets a memory: it is found no more. Do it when the user asks for it, or when a memory is wrong.",
		limits: func(p properties) {
			p.text("id", ragctx.MaxNameBytes, true)
			p.maxTokens(minTokens)
		},
	}, s.memoryForget)
}

func (s *Server) memoryForget(ctx context.Context, at Scope, in memoryForgetArguments) (memoryForgetAnswer, error) {
	out := memoryForgetAnswer{ID: in.ID, Status: "forgotten"}
	_, err := s.memory(ctx, at, in.ID)
	gone := errors.Is(err, ragctx.ErrNotFound)
	if err != nil && !gone {
		return out, err
	}
	_, narrow := narrowed(ctx)
	switch {
	case gone && narrow: // it may be another agent's
		err = nil
	case in.Erase: // also what is forgotten already
		out.Status = "erased"
		_, err = s.engine.EraseMemory(ctx, at.Namespace, in.ID, at.UserID, false)
	case gone:
		err = nil
	default:
		err = s.engine.DeleteMemory(ctx, at.Namespace, in.ID, at.UserID, false)
	}
	if gone {
		out.Status = "not_found"
	}
	return out, err
}

type memoryHistoryArguments struct {
	place
	sized
	paged

	ID    string `json:"id" jsonschema:"the id of the memory"`
	Limit int    `json:"limit,omitempty" jsonschema:"the most changes of a page"`
}

type memoryHistoryAnswer struct {
	ID         string          `json:"id"`
	Notice     string          `json:"notice,omitempty" jsonschema:"how the texts are to be read"`
	Changes    []memory.Change `json:"changes" jsonschema:"what happened to it, in order"`
	NextCursor string          `json:"next_cursor,omitempty" jsonschema:"for the next page"`
}

func (s *Server) memoryHistoryTool() tool {
	return define(s, reading("memory_history", "History of a memory",
		"Lists every change of a memory, with the texts before and after: why is it so, since when, what did it say before.",
		func(p properties) {
			p.text("id", ragctx.MaxNameBytes, true)
			p.between("limit", 1, 100, 20)
			p.maxTokens(fallbackTokens)
			p.cursor()
		}), s.memoryHistory)
}

func (s *Server) memoryHistory(ctx context.Context, at Scope, in memoryHistoryArguments) (memoryHistoryAnswer, error) {
	out := memoryHistoryAnswer{ID: in.ID, Changes: []memory.Change{}}
	c, err := page(in.Cursor, of("memory_history", at, in.ID), 1<<30)
	if err != nil {
		return out, err
	}
	if _, narrow := narrowed(ctx); narrow {
		if _, err := s.memory(ctx, at, in.ID); err != nil {
			return out, err
		}
	}
	changes, err := s.engine.MemoryHistory(ctx, at.Namespace, in.ID, at.viewer())
	if err != nil {
		return out, fmt.Errorf("memory %q: %w", ragctx.Clip(in.ID), err)
	}
	changes = changes[min(c.After, len(changes)):]
	more := len(changes) > in.Limit
	changes = changes[:min(in.Limit, len(changes))]
	return fitList(s, in.MaxTokens, len(changes), func(k int) memoryHistoryAnswer {
		a := out
		a.Changes, a.NextCursor = changes[:k], c.next(k, more || k < len(changes))
		if k > 0 {
			a.Notice = evidence
		}
		return a
	})
}
