package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

type memorySearchArguments struct {
	searchScope
	sized
	paged

	Query string `json:"query" jsonschema:"question or keywords"`
	Limit int    `json:"limit,omitempty" jsonschema:"memories per page"`
}

type memorySearchAnswer struct {
	Notice     string         `json:"notice,omitempty"`
	Memories   []memoryResult `json:"memories"`
	NextCursor string         `json:"next_cursor,omitempty"`
	corrections
}

type memoryResult struct {
	ID         string    `json:"id"`
	Content    string    `json:"content"`
	Occurred   time.Time `json:"occurred,omitzero"`
	Since      string    `json:"since,omitempty"`
	Importance float64   `json:"importance,omitempty"`
	Truncated  bool      `json:"truncated,omitempty"`
	Relevance  float64   `json:"relevance"`
}

func (s *Server) memorySearchTool() tool {
	return define(s, readTool("memory_search", "Search memories",
		"Finds memories: facts, preferences, decisions and earlier conversations.",
		func(p properties) {
			p.text("query", ragctx.MaxQueryBytes/4, true)
			p.between("limit", 1, 100, fallbackResults)
			p.maxTokens(fallbackTokens)
			p.cursor()
		}), s.memorySearch)
}

func (s *Server) memorySearch(ctx context.Context, at Scope, in memorySearchArguments) (memorySearchAnswer, error) {
	c, err := parseCursor(in.Cursor, queryHash("memory_search", at, in.Query), mostPages)
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
		results[i] = memoryResult{
			ID: it.ID, Content: it.Content, Occurred: it.Occurred, Since: it.Since,
			Importance: it.Importance, Relevance: rounded(it.Relevance),
		}
	}
	return fitOne(s, in.MaxTokens, len(results), func(k int) memorySearchAnswer {
		a := memorySearchAnswer{
			Memories: results[:k], NextCursor: c.next(k, more || k < len(results)),
			corrections: selectCorrections(found.Corrections, in.MaxTokens),
		}
		if k > 0 {
			a.Notice = evidence
		}
		return a
	}, func() *string { results[0].Truncated = true; return &results[0].Content })
}

type memoryAddArguments struct {
	memoryScope
	sized

	Content    string   `json:"content" jsonschema:"one fact, as a self-contained sentence"`
	ID         string   `json:"id,omitempty" jsonschema:"your own; replaces that memory"`
	Type       string   `json:"memory_type,omitempty" jsonschema:"semantic: fact; episodic: event; procedural: how-to; working: for now"`
	Importance float64  `json:"importance,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Origin     string   `json:"origin,omitempty" jsonschema:"author of the text"`
	ExpiresIn  int      `json:"expires_in_hours,omitempty" jsonschema:"0 is never"`
	Profile    bool     `json:"profile,omitempty" jsonschema:"describes the user lastingly"`
}

type memoryAddAnswer struct {
	ID      string       `json:"id"`
	Status  store.Status `json:"status"`
	Version int          `json:"version,omitempty"`
	Content string       `json:"content,omitempty"`
}

func (s *Server) memoryAddTool() tool {
	return define(s, definition{
		name: "memory_add", title: "Remember", role: access.Write, hints: writeHints(false, false, false),
		description: "Stores a memory for later conversations, searchable at once. Use it for preferences, " +
			"decisions and requests to remember, one fact per call. Secrets are removed; the status quarantined means " +
			"that a person reviews it first.",
		limits: func(p properties) {
			p.text("content", ragctx.MaxMemoryBytes/4, true)
			p.text("id", ragctx.MaxNameBytes, false)
			p.oneOf("memory_type", "semantic", "episodic", "procedural", "working")
			p["memory_type"].Default = []byte(`"semantic"`)
			p.between("importance", 0, 1, ragctx.DefaultImportance)
			p.texts("tags", ragctx.MaxMemoryTags, ragctx.MaxNameBytes)
			p.oneOf("origin", "user", "agent", "tool", "document")
			p.between("expires_in_hours", 0, 24*3650, 0)
			p.maxTokens(fallbackTokens)
		},
	}, s.memoryAdd)
}

func (s *Server) memoryAdd(ctx context.Context, at Scope, in memoryAddArguments) (memoryAddAnswer, error) {
	m := ragctx.Memory{
		ID: in.ID, Namespace: at.Namespace, UserID: at.UserID, AgentID: at.AgentID, SessionID: at.SessionID,
		Type: ragctx.MemoryType(in.Type), Content: in.Content, Importance: in.Importance, Tags: in.Tags,
		Origin: ragctx.MemoryOrigin(in.Origin), Profile: in.Profile,
	}
	if in.ExpiresIn > 0 {
		m.Expires = s.opts.Now().Add(time.Duration(in.ExpiresIn) * time.Hour)
	}
	if err := s.checkID(ctx, at, in.ID); err != nil {
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
	documentScope
	sized

	ID    string `json:"id"`
	Erase bool   `json:"erase,omitempty" jsonschema:"permanently; otherwise a person can undo it"`
}

type memoryForgetAnswer struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func (s *Server) memoryForgetTool() tool {
	return define(s, definition{
		name: "memory_forget", title: "Forget", role: access.Write, hints: writeHints(true, true, false),
		description: "Removes a memory from all searches. Use it at the user's request, or if the memory is wrong.",
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
	case gone && narrow: // it may belong to another agent
		err = nil
	case in.Erase: // even if already forgotten
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
	documentScope
	sized
	paged

	ID    string `json:"id"`
	Limit int    `json:"limit,omitempty" jsonschema:"changes per page"`
}

type memoryHistoryAnswer struct {
	ID         string                `json:"id"`
	Notice     string                `json:"notice,omitempty"`
	Changes    []ragctx.MemoryChange `json:"changes"`
	NextCursor string                `json:"next_cursor,omitempty"`
}

func (s *Server) memoryHistoryTool() tool {
	return define(s, readTool("memory_history", "History of a memory",
		"Lists every change of a memory with the texts before and after.",
		func(p properties) {
			p.text("id", ragctx.MaxNameBytes, true)
			p.between("limit", 1, 100, 20)
			p.maxTokens(fallbackTokens)
			p.cursor()
		}), s.memoryHistory)
}

func (s *Server) memoryHistory(ctx context.Context, at Scope, in memoryHistoryArguments) (memoryHistoryAnswer, error) {
	out := memoryHistoryAnswer{ID: in.ID, Changes: []ragctx.MemoryChange{}}
	c, err := parseCursor(in.Cursor, queryHash("memory_history", at, in.ID), 1<<30)
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
		return out, err
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
