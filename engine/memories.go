package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/memory"
)

// TurnResult is the acknowledgement of a turn.
type TurnResult struct {
	ID string `json:"id"`
	// MemoryID is the episode made of the turn; empty if no message has text.
	MemoryID string       `json:"memory_id,omitempty" doc:"the memory made of the turn; absent if no user or assistant message has text"`
	Status   store.Status `json:"status"`
	// Redacted counts the secrets removed before storing, by kind.
	Redacted memory.Redacted `json:"redacted,omitempty" doc:"number of secrets redacted before the turn was stored, by kind"`
}

// CompleteTurn stores a turn verbatim, except for secrets. When it returns, the turn is durable and
// can be found; facts are extracted later, see [Sessions.SettleAll]. A turn with the id of an earlier
// one must be equal to it.
func (e *Engine) CompleteTurn(ctx context.Context, t ragctx.Turn) (TurnResult, error) {
	defer e.priority.beginUrgent()()
	if err := memory.ValidateTurn(t); err != nil {
		return TurnResult{}, err
	}
	if err := actAs(ctx, &t.UserID); err != nil {
		return TurnResult{}, err
	}
	t.Namespace = cmp.Or(t.Namespace, ragctx.DefaultNamespace)
	ns, err := e.namespace(ctx, t.Namespace, true)
	if err != nil {
		return TurnResult{}, err
	}
	var redacted memory.Redacted
	if !e.opts.KeepSecrets {
		before, err := e.textBefore(ctx, ns, t)
		if err != nil {
			return TurnResult{}, err
		}
		t, redacted = memory.RedactTurn(t, before)
	}
	if t.ID == "" {
		t.ID = e.opts.NewID()
		if t.Occurred.IsZero() {
			t.Occurred = e.opts.Now()
		}
	}
	episode := t
	if episode.Occurred.IsZero() {
		// The stored turn keeps the zero time, so that a retry is equal to it.
		episode.Occurred = e.opts.Now()
	}
	episode.Occurred = episode.Occurred.UTC().Truncate(time.Microsecond)
	m, chunks, speakers, err := memory.Episode(episode)
	if err != nil {
		return TurnResult{}, err
	}
	res := TurnResult{ID: t.ID, Redacted: redacted}
	var content store.Content
	if m != nil {
		res.MemoryID = m.ID
		if content, err = e.memoryContent(ctx, m.Content, chunks, speakers); err != nil {
			return TurnResult{}, err
		}
	}
	var seq uint64
	var row int64
	res.Status, seq, row, err = e.store.PutTurn(ctx, ns, t, m, content, e.turns.wants(t))
	if err != nil {
		return TurnResult{}, err
	}
	if res.Status == store.Created {
		e.turns.turnStored(ns, t, row) // even if the rest fails: on a retry the turn is not new
	}
	if err := e.collections.CatchUp(ctx, store.Collection{Namespace: ns, Kind: store.KindMemories}, seq); err != nil {
		return TurnResult{}, err
	}
	if res.Status == store.Created && m != nil {
		e.publishStored(ctx, *m)
	}
	return res, nil
}

// textBefore returns the text of the session's turn before t, if t may answer a question of it.
func (e *core) textBefore(ctx context.Context, ns int64, t ragctx.Turn) (string, error) {
	if t.SessionID == "" || !memory.MayAnswer(t) {
		return "", nil
	}
	list, err := e.store.ListMemories(ctx, ns, store.MemoryFilter{
		UserID: t.UserID, AnyUser: t.UserID == "", SessionID: t.SessionID, Types: []ragctx.MemoryType{ragctx.MemoryEpisodic},
		Now: e.opts.Now(), Order: store.ByRecency, Limit: 2,
	})
	for _, m := range list {
		if !slices.ContainsFunc(m.Sources, func(p ragctx.Provenance) bool { return p.Turn == t.ID }) {
			return m.Content, err
		}
	}
	return "", err
}

// textContent prepares the text of a memory that is not an episode.
func (e *core) textContent(ctx context.Context, text string) (store.Content, error) {
	chunks := memory.Chunks(text)
	return e.memoryContent(ctx, text, chunks, memory.WithoutSpeakers(chunks))
}

func (e *core) memoryContent(
	ctx context.Context, text string, chunks []chunk.Chunk, speakers []index.Speaker,
) (store.Content, error) {
	c := store.Content{Text: text, Chunker: chunk.Version}
	e.prepareEmbedding(&c, "", chunks)
	if err := c.Embed(ctx, c.Chunks); err != nil {
		return c, err
	}
	for i := range c.Chunks {
		c.Chunks[i].Speaker = speakers[i]
	}
	return c, nil
}

// Put stores a memory without its secrets, or replaces the one with the same id. It returns
// the stored memory and the change made.
func (e Memories) Put(ctx context.Context, m ragctx.Memory) (ragctx.Memory, store.Status, error) {
	return e.remember(ctx, m, 0)
}

// remember is [Memories.Put] for an expected current version; 0 accepts any or none.
func (e *core) remember(
	ctx context.Context, m ragctx.Memory, over int, when ...store.Condition,
) (ragctx.Memory, store.Status, error) {
	defer e.priority.beginUrgent()()
	if err := m.Validate(); err != nil {
		return m, "", err
	}
	if err := actAs(ctx, &m.UserID); err != nil {
		return m, "", err
	}
	if m.ID == "" {
		m.ID = e.opts.NewID()
	}
	if !e.opts.KeepSecrets {
		m.Content, _ = memory.RedactText(m.Content)
	}
	m.Occurred = m.Occurred.UTC().Truncate(time.Microsecond)
	m.Expires = m.Expires.UTC().Truncate(time.Microsecond)
	if !m.Expires.IsZero() && !m.Expires.After(e.opts.Now()) {
		return m, "", ragctx.Invalid("expires", "is %s, which has passed; send a later time, or none",
			m.Expires.Format(time.RFC3339))
	}
	m.Namespace = cmp.Or(m.Namespace, ragctx.DefaultNamespace)
	ns, err := e.namespace(ctx, m.Namespace, true)
	if err != nil {
		return m, "", err
	}
	if reason, ok := memory.QuarantineReason(m); ok {
		m.State = ragctx.MemoryQuarantined
		if m.Occurred.IsZero() {
			m.Occurred = e.opts.Now().UTC().Truncate(time.Microsecond)
		}
		return m, store.InQuarantine, e.store.PutInQuarantine(ctx, ns, m, reason)
	}
	content, err := e.textContent(ctx, m.Content)
	if err != nil {
		return m, "", err
	}
	m, status, seq, err := e.store.ReplaceMemory(ctx, ns, m, content, e.tierOptions(), over, when...)
	if err != nil {
		return m, "", err
	}
	m.Score = e.opts.Weights.Score(m.Importance, e.opts.Now().Sub(m.Occurred))
	if status != store.Unchanged {
		e.publishStored(ctx, m)
	}
	return m, status, e.collections.CatchUp(ctx, store.Collection{Namespace: ns, Kind: store.KindMemories}, seq)
}

func (e *core) tierOptions() store.Tier {
	return store.Tier{Working: e.opts.MaxWorking, Weights: e.opts.Weights}
}

// Get returns a memory of a user, or one without a user. With anyUser it may belong to any user.
func (e Memories) Get(ctx context.Context, namespace, id, user string, anyUser bool) (ragctx.Memory, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return ragctx.Memory{}, err
	}
	by, err := canRead(ctx, Viewer{user, anyUser})
	if err != nil {
		return ragctx.Memory{}, err
	}
	now := e.opts.Now()
	m, err := e.store.Memory(ctx, ns, id, now)
	if err != nil {
		return m, err
	}
	if !by.Anyone && m.UserID != "" && m.UserID != by.User {
		return ragctx.Memory{}, notFound("memory", id)
	}
	m.Score = e.opts.Weights.Score(m.Importance, now.Sub(m.Occurred))
	return m, nil
}

// List returns a page of memories by importance and recency, best first, and the cursor of
// the next page, which is zero on the last. A namespace that does not exist is empty.
func (e Memories) List(
	ctx context.Context, namespace string, f store.MemoryFilter,
) ([]ragctx.Memory, store.MemoryCursor, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, store.MemoryCursor{}, err
	}
	if f.State == ragctx.MemoryQuarantined {
		return nil, store.MemoryCursor{}, ragctx.Invalid("state", "is quarantined; use the quarantine list instead")
	}
	if f.State != "" && f.State != ragctx.MemoryActive && !f.AsOf.IsZero() {
		return nil, store.MemoryCursor{},
			ragctx.Invalid("as_of", "cannot be combined with a state, which is the current one; send only one of them")
	}
	if err := restrictFilter(ctx, &f); err != nil {
		return nil, store.MemoryCursor{}, err
	}
	if f.After.ID != "" {
		f.Now = f.After.Now
	}
	if f.Now.IsZero() {
		f.Now = e.opts.Now()
	}
	f.Weights = e.opts.Weights
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return []ragctx.Memory{}, store.MemoryCursor{}, nil
	}
	if err != nil {
		return nil, store.MemoryCursor{}, err
	}
	page := f.Limit
	f.Limit++
	found, err := e.store.ListMemories(ctx, ns, f)
	if err != nil {
		return found, store.MemoryCursor{}, err
	}
	var next store.MemoryCursor
	if len(found) > page {
		found = found[:page]
		next = f.CursorAfter(found[page-1])
	}
	for i := range found { // after the cursor, which needs the exact score
		found[i].Score = ragctx.Rounded(found[i].Score)
	}
	return found, next, nil
}

// Delete removes a memory from all answers at once. Queries about an earlier time (as_of)
// still find it, unless it was only quarantined. It returns [ragctx.ErrNotFound] for a memory that does
// not exist or is not visible.
func (e Memories) Delete(ctx context.Context, namespace, id, user string, anyUser bool) error {
	return e.deleteMemory(ctx, namespace, id, Viewer{user, anyUser}, store.Condition{})
}

func (e *core) deleteMemory(ctx context.Context, namespace, id string, by Viewer, when store.Condition) error {
	ns, err := e.namespace(ctx, namespace, false)
	var seq uint64
	if err == nil {
		by, err = e.canDelete(ctx, namespace, id, by)
	}
	if err == nil {
		seq, err = e.store.DeleteMemory(ctx, ns, id, by.User, by.Anyone, when)
	}
	if isNotFound(err) {
		return cmp.Or(when.CheckMissing("memory", id), err)
	}
	if err != nil {
		return err
	}
	return e.catchUpMemories(ctx, ns, seq)
}

// DeleteAll deletes the memories that match a filter, each as [Memories.Delete] does, and
// publishes how many each tier lost.
func (e Memories) DeleteAll(ctx context.Context, namespace string, f store.MemoryFilter) error {
	f.Limit = MaxPage
	before := e.countTiers(ctx, namespace, f)
	var took store.Erased
	defer func() { e.publishCleared(ctx, namespace, f, before, took) }()
	for {
		page, next, err := e.Memories().List(ctx, namespace, f)
		if err != nil {
			return err
		}
		for _, m := range page {
			switch err := e.Memories().Delete(ctx, namespace, m.ID, m.UserID, false); {
			case err == nil:
				took.Memories++
			case !isNotFound(err): // others may delete it at the same time
				return err
			}
		}
		if next.ID == "" {
			return nil
		}
	}
}

func isNotFound(err error) bool { return errors.Is(err, ragctx.ErrNotFound) }
