package main

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/providers/procedures"
)

// agentEngine is the engine of agents: one in this process, or a server's. A server that
// has gone, such as one of another editor that was closed, is replaced.
type agentEngine struct {
	open  func(ctx context.Context) (*client, error)
	files allowedFiles

	mu  sync.Mutex
	now *client
}

// at returns the backend; a new one instead of gone.
func (a *agentEngine) at(ctx context.Context, gone *client) (*client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now != nil && a.now != gone {
		return a.now, nil
	}
	c, err := a.open(context.WithoutCancel(ctx)) // it outlives the call, which may be cancelled
	if err != nil {
		return nil, err
	}
	if gone != nil {
		_ = gone.Close() // a client, which holds nothing but connections
	}
	a.now = c
	return a.now, nil
}

// Close gives the data directory free.
func (a *agentEngine) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.Close()
}

// on calls fn with the engine, and again if it was that of a server which is gone.
func on[T any](ctx context.Context, a *agentEngine, fn func(e mcp.Engine) (T, error)) (T, error) {
	b, err := a.at(ctx, nil)
	if err != nil {
		return *new(T), err
	}
	v, err := fn(b.agents())
	if b.URL == "" || !errors.Is(err, ragctx.ErrUnavailable) || ctx.Err() != nil {
		return v, err
	}
	b, openErr := a.at(ctx, b)
	if openErr != nil {
		return v, err
	}
	return fn(b.agents())
}

// agents returns the backend as agents need it.
func (o *client) agents() mcp.Engine {
	return agentClient{o.Client}
}

// Context implements [mcp.Engine].
func (a *agentEngine) Context(ctx context.Context, q ragctx.ContextQuery) (resolve.Answer, error) {
	return on(ctx, a, func(e mcp.Engine) (resolve.Answer, error) { return e.Context(ctx, q) })
}

// Search implements [mcp.Engine].
func (a *agentEngine) Search(ctx context.Context, q ragctx.ContextQuery) (engine.SearchResult, error) {
	return on(ctx, a, func(e mcp.Engine) (engine.SearchResult, error) { return e.Search(ctx, q) })
}

// Document implements [mcp.Engine].
func (a *agentEngine) Document(ctx context.Context, namespace, id string, version int) (store.Document, string, error) {
	var text string
	d, err := on(ctx, a, func(e mcp.Engine) (d store.Document, err error) {
		d, text, err = e.Document(ctx, namespace, id, version)
		return d, err
	})
	return d, text, err
}

// ListDocuments implements [mcp.Engine].
func (a *agentEngine) ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error) {
	return on(ctx, a, func(e mcp.Engine) ([]store.Document, error) { return e.ListDocuments(ctx, namespace, o) })
}

// PutDocument implements [mcp.Engine].
func (a *agentEngine) PutDocument(ctx context.Context, namespace string, d docs.Document, root string) (store.Put, error) {
	return on(ctx, a, func(e mcp.Engine) (store.Put, error) { return e.PutDocument(ctx, namespace, d, root) })
}

// Passage implements [mcp.Engine].
func (a *agentEngine) Passage(ctx context.Context, namespace, id string) (passage.Chunk, error) {
	return on(ctx, a, func(e mcp.Engine) (passage.Chunk, error) { return e.Passage(ctx, namespace, id) })
}

// Skill implements [mcp.Engine].
func (a *agentEngine) Skill(ctx context.Context, namespace, item string) (procedures.ID, procedures.ProcedureVersion, error) {
	var id procedures.ID
	v, err := on(ctx, a, func(e mcp.Engine) (v procedures.ProcedureVersion, err error) {
		id, v, err = e.Skill(ctx, namespace, item)
		return v, err
	})
	return id, v, err
}

// Remember implements [mcp.Engine].
func (a *agentEngine) Remember(ctx context.Context, m memory.Memory) (memory.Memory, store.Status, error) {
	if m.ID == "" {
		m.ID = uuid.Must(uuid.NewV7()).String() // what is sent twice is stored once
	}
	var status store.Status
	m, err := on(ctx, a, func(e mcp.Engine) (stored memory.Memory, err error) {
		stored, status, err = e.Remember(ctx, m)
		return stored, err
	})
	return m, status, err
}

// FindMemory implements [mcp.Engine].
func (a *agentEngine) FindMemory(ctx context.Context, namespace, id string, by engine.Viewer) (store.Quarantined, error) {
	return on(ctx, a, func(e mcp.Engine) (store.Quarantined, error) { return e.FindMemory(ctx, namespace, id, by) })
}

// MemoryHistory implements [mcp.Engine].
func (a *agentEngine) MemoryHistory(ctx context.Context, namespace, id string, by engine.Viewer) ([]memory.Change, error) {
	return on(ctx, a, func(e mcp.Engine) ([]memory.Change, error) { return e.MemoryHistory(ctx, namespace, id, by) })
}

// DeleteMemory implements [mcp.Engine].
func (a *agentEngine) DeleteMemory(ctx context.Context, namespace, id, user string, anyUser bool) error {
	_, err := on(ctx, a, func(e mcp.Engine) (struct{}, error) {
		return struct{}{}, e.DeleteMemory(ctx, namespace, id, user, anyUser)
	})
	return err
}

// EraseMemory implements [mcp.Engine].
func (a *agentEngine) EraseMemory(ctx context.Context, namespace, id, user string, anyUser bool) (store.Erased, error) {
	return on(ctx, a, func(e mcp.Engine) (store.Erased, error) {
		return e.EraseMemory(ctx, namespace, id, user, anyUser)
	})
}

// Job implements [mcp.Engine].
func (a *agentEngine) Job(ctx context.Context, id string) (engine.Job, error) {
	return on(ctx, a, func(e mcp.Engine) (engine.Job, error) { return e.Job(ctx, id) })
}

// ListJobs implements [mcp.Engine].
func (a *agentEngine) ListJobs(ctx context.Context, f store.JobFilter) ([]engine.Job, error) {
	return on(ctx, a, func(e mcp.Engine) ([]engine.Job, error) { return e.ListJobs(ctx, f) })
}

// JobItems implements [mcp.Engine].
func (a *agentEngine) JobItems(ctx context.Context, id string, f store.ItemFilter) ([]store.JobItem, error) {
	return on(ctx, a, func(e mcp.Engine) ([]store.JobItem, error) { return e.JobItems(ctx, id, f) })
}

// agentClient is a server as agents need it.
type agentClient struct{ *api.Client }

// nobody is a user that nobody is: who looks as this one sees what belongs to no user.
// Over REST no user at all would be anyone, and an agent is not.
var nobody = "nobody " + uuid.NewString()

func someone(user string) string {
	if user == "" {
		return nobody
	}
	return user
}

// Document implements [mcp.Engine].
func (c agentClient) Document(ctx context.Context, namespace, id string, version int) (store.Document, string, error) {
	d, err := c.Client.Document(ctx, namespace, id, version)
	if err != nil || d.Text == nil {
		return d.Document, "", err
	}
	return d.Document, *d.Text, nil
}

// Passage implements [mcp.Engine].
func (c agentClient) Passage(ctx context.Context, namespace, id string) (passage.Chunk, error) {
	it, err := c.Item(ctx, namespace, id)
	if err == nil && it.Type != ragctx.TypeResource {
		err = ragctx.ErrNotFound
	}
	return passage.Chunk{
		Ordinal: it.Ordinal, Heading: it.Heading, Text: it.Text, Page: it.Page, Start: chunk.Pos(it.Start), End: chunk.Pos(it.End),
	}, err
}

// Skill implements [mcp.Engine].
func (c agentClient) Skill(ctx context.Context, namespace, item string) (procedures.ID, procedures.ProcedureVersion, error) {
	it, err := c.Item(ctx, namespace, item)
	if err == nil && it.Type != ragctx.TypeSkill {
		err = ragctx.ErrNotFound
	}
	if err != nil {
		return procedures.ID{}, procedures.ProcedureVersion{}, err
	}
	id, err := procedures.ParseID(it.ID)
	if err != nil {
		return id, procedures.ProcedureVersion{}, err
	}
	_, body, err := procedures.ParseMarkdown(it.Text)
	return id, procedures.ProcedureVersion{Number: it.Version, Body: body}, err
}

// FindMemory implements [mcp.Engine].
func (c agentClient) FindMemory(ctx context.Context, namespace, id string, by engine.Viewer) (store.Quarantined, error) {
	return c.Client.FindMemory(ctx, namespace, id, engine.Viewer{User: someone(by.User)})
}

// MemoryHistory implements [mcp.Engine].
func (c agentClient) MemoryHistory(ctx context.Context, namespace, id string, by engine.Viewer) ([]memory.Change, error) {
	return c.Client.MemoryHistory(ctx, namespace, id, engine.Viewer{User: someone(by.User)})
}

// DeleteMemory implements [mcp.Engine].
func (c agentClient) DeleteMemory(ctx context.Context, namespace, id, user string, _ bool) error {
	return c.Client.DeleteMemory(ctx, namespace, id, someone(user), false)
}

// EraseMemory implements [mcp.Engine].
func (c agentClient) EraseMemory(ctx context.Context, namespace, id, user string, _ bool) (store.Erased, error) {
	return c.Client.EraseMemory(ctx, namespace, id, someone(user), false)
}
