package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/procedures"
)

// agentAPI is the API that agents call: that of an engine in this process, or of the server that has
// the data directory. If that server has ended, for example with another editor, it opens the
// directory again.
type agentAPI struct {
	*api.Client // sends its requests by [agentAPI.RoundTrip]

	open  func(ctx context.Context) (*client, error)
	files allowedFiles

	mu      sync.Mutex
	current *client
}

var _ mcp.Engine = (*agentAPI)(nil)

func newAgentAPI(files allowedFiles, open func(ctx context.Context) (*client, error)) *agentAPI {
	a := &agentAPI{open: open, files: files}
	a.Client = api.NewClientOver("http://ragctx", a)
	return a
}

// connect returns the current client, or a new one in the place of failed.
func (a *agentAPI) connect(ctx context.Context, failed *client) (*client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current != nil && a.current != failed {
		return a.current, nil
	}
	c, err := a.open(context.WithoutCancel(ctx)) // it outlives the call, which may be cancelled
	if err != nil {
		return nil, err
	}
	if failed != nil {
		_ = failed.Close() // closes connections only: an engine in this process does not fail
	}
	a.current = c
	return c, nil
}

// Close closes the current client.
func (a *agentAPI) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current.Close()
}

// RoundTrip implements [http.RoundTripper]. It sends a request again if its server does not answer as
// a server of ragctx does. The answer is read whole, because one that breaks off counts as none.
func (a *agentAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	c, err := a.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	resp, err := forward(c, r)
	if c.local != nil || ctx.Err() != nil || err == nil && answered(resp) {
		return resp, err
	}
	next, openErr := a.connect(ctx, c)
	if openErr != nil {
		return resp, err
	}
	if r.GetBody != nil {
		r = r.Clone(ctx)
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return forward(next, r)
}

// forward sends a request by c, and reads the whole answer.
func forward(c *client, r *http.Request) (*http.Response, error) {
	resp, err := c.Forward(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return resp, nil
}

// answered reports whether a server of ragctx answered, and not that it is about to end.
func answered(resp *http.Response) bool {
	failed := resp.StatusCode >= http.StatusMultipleChoices
	return resp.StatusCode != http.StatusServiceUnavailable && (!failed || resp.Header.Get("Content-Type") == "application/problem+json")
}

// Remember implements [mcp.Engine]. A memory always has an id, so that one that is sent twice is
// stored once.
func (a *agentAPI) Remember(ctx context.Context, m ragctx.Memory) (ragctx.Memory, store.Status, error) {
	if m.ID == "" {
		m.ID = uuid.Must(uuid.NewV7()).String()
	}
	return a.Client.Remember(ctx, m)
}

// noUser is a user without memories. An agent that acts for no user sees what belongs to no user; in a
// request without a user the caller would act for all of them.
var noUser = "nobody " + uuid.NewString()

func viewerOf(user string) engine.Viewer { return engine.Viewer{User: cmp.Or(user, noUser)} }

// Document implements [mcp.Engine].
func (a *agentAPI) Document(ctx context.Context, namespace, id string, version int) (store.Document, string, error) {
	d, err := a.Client.Document(ctx, namespace, id, version)
	if err != nil || d.Text == nil {
		return d.Document, "", err
	}
	return d.Document, *d.Text, nil
}

// Passage implements [mcp.Engine].
func (a *agentAPI) Passage(ctx context.Context, namespace, id string) (passage.Chunk, error) {
	it, err := a.Item(ctx, namespace, id)
	if err == nil && it.Type != ragctx.TypeResource {
		err = ragctx.ErrNotFound
	}
	return passage.Chunk{
		Ordinal: it.Ordinal, Heading: it.Heading, Text: it.Text, Page: it.Page, Start: chunk.Pos(it.Start), End: chunk.Pos(it.End),
	}, err
}

// Skill implements [mcp.Engine].
func (a *agentAPI) Skill(ctx context.Context, namespace, item string) (procedures.ID, ragctx.ProcedureVersion, error) {
	it, err := a.Item(ctx, namespace, item)
	if err == nil && it.Type != ragctx.TypeSkill {
		err = ragctx.ErrNotFound
	}
	if err != nil {
		return procedures.ID{}, ragctx.ProcedureVersion{}, err
	}
	id, err := procedures.ParseID(it.ID)
	if err != nil {
		return id, ragctx.ProcedureVersion{}, err
	}
	_, body, err := procedures.ParseMarkdown(it.Text)
	return id, ragctx.ProcedureVersion{Number: it.Version, ProcedureBody: body}, err
}

// FindMemory implements [mcp.Engine].
func (a *agentAPI) FindMemory(ctx context.Context, namespace, id string, by engine.Viewer) (store.Quarantined, error) {
	return a.Client.FindMemory(ctx, namespace, id, viewerOf(by.User))
}

// MemoryHistory implements [mcp.Engine].
func (a *agentAPI) MemoryHistory(ctx context.Context, namespace, id string, by engine.Viewer) ([]ragctx.MemoryChange, error) {
	return a.Client.MemoryHistory(ctx, namespace, id, viewerOf(by.User))
}

// DeleteMemory implements [mcp.Engine].
func (a *agentAPI) DeleteMemory(ctx context.Context, namespace, id, user string, _ bool) error {
	return a.Client.DeleteMemory(ctx, namespace, id, viewerOf(user).User, false)
}

// EraseMemory implements [mcp.Engine].
func (a *agentAPI) EraseMemory(ctx context.Context, namespace, id, user string, _ bool) (store.Erased, error) {
	return a.Client.EraseMemory(ctx, namespace, id, viewerOf(user).User, false)
}
