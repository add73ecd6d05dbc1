package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

const memoriesPath = "/v1/memories"

// as returns the parameters of a route of one memory or turn.
func as(namespace string, by engine.Viewer) (url.Values, error) {
	q := in(namespace)
	if !by.Anyone && by.User == "" {
		return nil, ragctx.Invalid("user_id", "is empty; name a user, or look as anyone")
	}
	if !by.Anyone {
		q.Set("user_id", by.User)
	}
	return q, nil
}

// scopeOf returns the parameters that select the owners of memories.
func scopeOf(namespace string, f store.MemoryFilter) url.Values {
	q := in(namespace)
	set(q, "user_id", f.UserID)
	set(q, "agent_id", f.AgentID)
	set(q, "session_id", f.SessionID)
	if f.AnyUser {
		q.Set("all_users", "true")
	}
	return q
}

// narrowing returns the parameters that select memories.
func narrowing(namespace string, f store.MemoryFilter) url.Values {
	q := scopeOf(namespace, f)
	for _, t := range f.Types {
		q.Add("type", string(t))
	}
	for _, k := range f.Kinds {
		q.Add("kind", string(k))
	}
	for _, t := range f.AnyTags {
		q.Add("tag", t)
	}
	set(q, "contains", f.Contains)
	if f.MinImportance > 0 {
		q.Set("min_importance", strconv.FormatFloat(f.MinImportance, 'g', -1, 64))
	}
	for name, on := range map[string]bool{"profile": f.Profile, "pinned": f.Pinned} {
		if on {
			q.Set(name, "true")
		}
	}
	setTime(q, "occurred_after", f.Filter.OccurredAfter)
	setTime(q, "occurred_before", f.Filter.OccurredBefore)
	if f.Limit != 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

func setTime(q url.Values, name string, t time.Time) {
	if !t.IsZero() {
		q.Set(name, t.Format(time.RFC3339Nano))
	}
}

// ListMemories calls [engine.Memories.List] on the server.
func (c *Client) ListMemories(ctx context.Context, namespace string, f store.MemoryFilter) ([]ragctx.Memory, store.MemoryCursor, error) {
	q := narrowing(namespace, f)
	set(q, "state", string(f.State))
	set(q, "order", string(f.Order))
	setTime(q, "as_of", f.AsOf)
	setPage(q, memoriesPath, f.Limit, memoryCursor(f.After))
	var page memoryPage
	if err := c.do(ctx, http.MethodGet, memoriesPath, q, nil, &page); err != nil {
		return nil, store.MemoryCursor{}, err
	}
	next, err := positionIn[memoryCursor](page.NextCursor)
	return page.Memories, store.MemoryCursor(next), err
}

// one calls a route of a memory or turn, whose suffix is "" or one of [verbs].
func (c *Client) one(ctx context.Context, method, root, namespace, id, suffix string, by engine.Viewer, body, out any) error {
	q, err := as(namespace, by)
	if err != nil {
		return err
	}
	return c.do(ctx, method, root+"/"+escaped(id)+suffix, q, body, out)
}

// FindMemory calls [engine.Memories.Find] on the server.
func (c *Client) FindMemory(ctx context.Context, namespace, id string, by engine.Viewer) (store.Quarantined, error) {
	var m store.Quarantined
	return m, c.one(ctx, http.MethodGet, memoriesPath, namespace, id, "", by, nil, &m)
}

// DeleteMemory calls [engine.Memories.Delete] on the server.
func (c *Client) DeleteMemory(ctx context.Context, namespace, id, user string, anyUser bool) error {
	return c.one(ctx, http.MethodDelete, memoriesPath, namespace, id, "", engine.Viewer{User: user, Anyone: anyUser}, nil, nil)
}

// EraseMemory calls [engine.Memories.Erase] on the server. The result is empty: the server does not
// report it.
func (c *Client) EraseMemory(ctx context.Context, namespace, id, user string, anyUser bool) (store.Erased, error) {
	q, err := as(namespace, engine.Viewer{User: user, Anyone: anyUser})
	if err != nil {
		return store.Erased{}, err
	}
	q.Set("erase", "true")
	return store.Erased{}, c.do(ctx, http.MethodDelete, memoriesPath+"/"+escaped(id), q, nil, nil)
}

// ReviseMemory calls [engine.Memories.Revise] on the server. Added and removed tags need a request
// of their own.
func (c *Client) ReviseMemory(ctx context.Context, namespace, id string, by engine.Viewer,
	p memory.Patch,
) (ragctx.Memory, store.Status, error) {
	var put memoryPut
	if len(p.AddTags)+len(p.RemoveTags) > 0 {
		err := c.one(ctx, http.MethodPatch, memoriesPath, namespace, id, "/tags", by, tagsRequest{p.AddTags, p.RemoveTags}, &put)
		p.AddTags, p.RemoveTags = nil, nil
		if err != nil || p.IsZero() {
			return put.Memory, put.Status, err
		}
	}
	body := memoryPatch{
		Content: p.Content, Importance: p.Importance, Tags: p.Tags, Metadata: p.Metadata, Profile: p.Profile, Pinned: p.Pinned,
	}
	if p.Expires != nil {
		body.Expires = expiry{Set: true, At: *p.Expires}
	}
	err := c.one(ctx, http.MethodPatch, memoriesPath, namespace, id, "", by, body, &put)
	return put.Memory, put.Status, err
}

// MemoryHistory calls [engine.Memories.History] on the server.
func (c *Client) MemoryHistory(ctx context.Context, namespace, id string, by engine.Viewer) ([]ragctx.MemoryChange, error) {
	var h memoryHistory
	return h.History, c.one(ctx, http.MethodGet, memoriesPath, namespace, id, "/history", by, nil, &h)
}

// UndoMemory calls [engine.Memories.Undo] on the server.
func (c *Client) UndoMemory(ctx context.Context, namespace, id string, by engine.Viewer) (ragctx.MemoryChange, error) {
	var u undone
	err := c.one(ctx, http.MethodPost, memoriesPath, namespace, id, ":undo", by, nil, &u)
	return u.Undone, err
}

// UndoTurn calls [engine.Sessions.UndoTurn] on the server.
func (c *Client) UndoTurn(ctx context.Context, namespace, turn string, by engine.Viewer) ([]string, error) {
	var u turnUndone
	err := c.one(ctx, http.MethodPost, "/v1/turns", namespace, turn, ":undo", by, nil, &u)
	return u.MemoryIDs, err
}

// Turn calls [engine.Sessions.Turn] on the server.
func (c *Client) Turn(ctx context.Context, namespace, id string, by engine.Viewer) (store.StoredTurn, error) {
	var t turn
	err := c.one(ctx, http.MethodGet, "/v1/turns", namespace, id, "", by, nil, &t)
	return store.StoredTurn{Turn: t.turn(), Recorded: t.Recorded}, err
}

// Quarantine calls [engine.Memories.Quarantine] on the server.
func (c *Client) Quarantine(ctx context.Context, namespace string, f store.MemoryFilter, after int64) ([]store.Quarantined, int64, error) {
	q := scopeOf(namespace, f)
	setPage(q, memoriesPath+":quarantine", f.Limit, quarantineCursor{after})
	var page quarantinePage
	if err := c.do(ctx, http.MethodGet, memoriesPath+":quarantine", q, nil, &page); err != nil {
		return nil, 0, err
	}
	next, err := positionIn[quarantineCursor](page.NextCursor)
	return page.Memories, next.Row, err
}

// ReleaseMemory calls [engine.Memories.Release] on the server.
func (c *Client) ReleaseMemory(ctx context.Context, namespace, id string, by engine.Viewer) (ragctx.Memory, error) {
	var m store.Quarantined
	err := c.one(ctx, http.MethodPost, memoriesPath, namespace, id, ":release", by, nil, &m)
	return m.Memory, err
}

// DiscardMemory calls [engine.Memories.Discard] on the server.
func (c *Client) DiscardMemory(ctx context.Context, namespace, id string, by engine.Viewer) error {
	return c.one(ctx, http.MethodPost, memoriesPath, namespace, id, ":discard", by, nil, nil)
}

// PruneMemories calls [engine.Memories.Prune] on the server.
func (c *Client) PruneMemories(ctx context.Context, namespace string, f store.MemoryFilter, p ragctx.PrunePolicy,
	dry bool,
) (engine.Pruned, error) {
	days := p.MaxAge.Hours() / 24
	var out engine.Pruned
	err := c.do(ctx, http.MethodPost, memoriesPath+":prune", nil, pruneRequest{
		Namespace: namespace, UserID: f.UserID, AllUsers: f.AnyUser, AgentID: f.AgentID, SessionID: f.SessionID,
		MaxAgeDays: &days, MinImportance: &p.MinImportance, MaxItems: p.MaxItems, DryRun: dry,
	}, &out)
	return out, err
}

// MemoryStats calls [engine.Memories.Stats] on the server.
func (c *Client) MemoryStats(ctx context.Context, namespace string, f store.MemoryFilter) (store.MemoryStats, error) {
	var st store.MemoryStats
	return st, c.do(ctx, http.MethodGet, memoriesPath+":stats", scopeOf(namespace, f), nil, &st)
}

// MemoryTags calls [engine.Memories.Tags] on the server.
func (c *Client) MemoryTags(ctx context.Context, namespace string, f store.MemoryFilter, after store.TagCount) ([]store.TagCount, error) {
	q := narrowing(namespace, f)
	setPage(q, memoriesPath+":tags", f.Limit, tagCursor(after))
	var list tagList
	err := c.do(ctx, http.MethodGet, memoriesPath+":tags", q, nil, &list)
	return list.Tags, err
}
