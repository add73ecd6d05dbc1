package engine

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// Now returns the current time of the engine's clock.
func (e *Engine) Now() time.Time { return e.opts.Now() }

// Find returns a memory, active or quarantined; a quarantined one with the reason and the
// time.
func (e Memories) Find(ctx context.Context, namespace, id string, by Viewer) (store.Quarantined, error) {
	m, err := e.Memories().Get(ctx, namespace, id, by.User, by.Anyone)
	if !isNotFound(err) {
		return store.Quarantined{Memory: m}, err
	}
	by, berr := canRead(ctx, by)
	if berr != nil {
		return store.Quarantined{}, berr
	}
	ns, nerr := e.namespace(ctx, namespace, false)
	if nerr != nil {
		return store.Quarantined{}, nerr
	}
	q, qerr := e.store.Quarantined(ctx, ns, id, by.User, by.Anyone)
	if isNotFound(qerr) {
		return store.Quarantined{}, err
	}
	return q, qerr
}

// A revision is tried up to reviseAttempts times under concurrent changes, with exponential backoff
// from reviseMinDelay to reviseMaxDelay: the conflicting change may not be readable yet.
const (
	reviseAttempts = 10
	reviseMinDelay = 2 * time.Millisecond
	reviseMaxDelay = 200 * time.Millisecond
)

// Revise stores a new version of a memory with changes. A patch without effect makes no
// version.
func (e Memories) Revise(
	ctx context.Context, namespace, id string, by Viewer, p memory.Patch,
) (ragctx.Memory, store.Status, error) {
	return e.reviseMemory(ctx, namespace, id, by, p, store.Condition{})
}

func (e *core) reviseMemory(
	ctx context.Context, namespace, id string, by Viewer, p memory.Patch, when store.Condition,
) (ragctx.Memory, store.Status, error) {
	for attempt := 1; ; attempt++ {
		m, status, err := e.revise(ctx, namespace, id, by, p, when)
		if !errors.Is(err, ragctx.ErrConflict) || attempt == reviseAttempts {
			return m, status, err
		}
		select {
		case <-time.After(min(reviseMinDelay<<attempt, reviseMaxDelay)):
		case <-ctx.Done():
			return m, status, ctx.Err()
		}
	}
}

func (e *core) revise(
	ctx context.Context, namespace, id string, by Viewer, p memory.Patch, when store.Condition,
) (ragctx.Memory, store.Status, error) {
	by, err := e.canModify(ctx, namespace, id, by)
	if err != nil {
		return ragctx.Memory{}, "", err
	}
	old, err := e.Memories().Get(ctx, namespace, id, by.User, by.Anyone)
	if err != nil {
		return old, "", err
	}
	m := p.Apply(old)
	if reflect.DeepEqual(m, old) {
		return old, store.Unchanged, when.Check("memory", id, old.Version, old.Recorded)
	}
	return e.remember(ctx, m, old.Version, when)
}

// Import stores an exported memory with its id, times, fact record and use count. Its
// recording time is now.
func (e Memories) Import(ctx context.Context, m ragctx.Memory) (ragctx.Memory, store.Status, error) {
	if m.ID == "" {
		return m, "", ragctx.Invalid("id", "is empty; a repeated import needs it")
	}
	if m.State != "" && m.State != ragctx.MemoryActive {
		return m, "", ragctx.Invalid("state", "is %s; only active memories are imported", ragctx.Clip(string(m.State)))
	}
	if m.About != nil && !e.opts.KeepSecrets {
		about := *m.About
		for _, s := range [...]*string{&about.Subject, &about.Attribute, &about.Value, &about.Reason, &about.When} {
			*s, _ = memory.RedactText(*s)
		}
		m.About = &about
	}
	if err := actAs(ctx, &m.UserID); err != nil {
		return m, "", err
	}
	old, err := e.Memories().Get(ctx, m.Namespace, m.ID, m.UserID, false)
	if err == nil && reflect.DeepEqual(exportedPart(m), exportedPart(old)) {
		return old, store.Unchanged, nil
	}
	uses := store.Use{Key: m.ID, Count: m.Uses, Last: m.LastUsed}
	m, status, err := e.remember(ctx, m, 0)
	if err != nil || status != store.Created || uses.Count <= 0 {
		return m, status, err
	}
	if uses.Namespace, err = e.namespace(ctx, m.Namespace, false); err != nil {
		return m, status, err
	}
	return m, status, e.store.RecordUses(ctx, []store.Use{uses})
}

// PutOutcome stores the outcome of a task as a memory, without secrets. m has the memory's id,
// owner and time.
func (e Memories) PutOutcome(
	ctx context.Context, m ragctx.Memory, o memory.Outcome,
) (ragctx.Memory, store.Status, error) {
	if !e.opts.KeepSecrets { // the metadata has them too
		for _, s := range [...]*string{&o.Prompt, &o.Result, &o.Error} {
			*s, _ = memory.RedactText(*s)
		}
		o.Tools = slices.Clone(o.Tools)
		for i := range o.Tools {
			o.Tools[i], _ = memory.RedactText(o.Tools[i])
		}
	}
	made, err := o.Memory()
	if err != nil {
		return made, "", err
	}
	made.ID, made.Namespace, made.Occurred = m.ID, m.Namespace, m.Occurred
	made.UserID, made.AgentID, made.SessionID = m.UserID, m.AgentID, m.SessionID
	return e.remember(ctx, made, 0)
}

// exportedPart returns the part of a memory that an export and import preserve.
func exportedPart(m ragctx.Memory) ragctx.Memory {
	m.Namespace, m.Recorded, m.Version, m.Score, m.State = "", time.Time{}, 0, 0, ""
	m.Uses, m.LastUsed = 0, time.Time{}
	m.Occurred, m.Expires = m.Occurred.UTC().Truncate(time.Microsecond), m.Expires.UTC().Truncate(time.Microsecond)
	if len(m.Tags) == 0 {
		m.Tags = nil
	}
	if len(m.Metadata) == 0 {
		m.Metadata = nil
	}
	return m
}

// Turn returns a turn verbatim.
func (e Sessions) Turn(ctx context.Context, namespace, id string, by Viewer) (store.StoredTurn, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return store.StoredTurn{}, err
	}
	if by, err = canRead(ctx, by); err != nil {
		return store.StoredTurn{}, err
	}
	return e.store.Turn(ctx, ns, id, by.User, by.Anyone)
}

// Tags counts the tags of the memories that match a filter, most frequent first. It returns a
// page of at most the filter's limit after a given tag; the zero value starts at the beginning.
func (e Memories) Tags(
	ctx context.Context, namespace string, f store.MemoryFilter, after store.TagCount,
) ([]store.TagCount, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, err
	}
	if err := restrictFilter(ctx, &f); err != nil {
		return nil, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return []store.TagCount{}, nil
	}
	if err != nil {
		return nil, err
	}
	f.Now = e.opts.Now()
	return e.store.MemoryTags(ctx, ns, f, after)
}

// Count counts the memories that match a filter.
func (e Memories) Count(ctx context.Context, namespace string, f store.MemoryFilter) (int, error) {
	if err := restrictFilter(ctx, &f); err != nil {
		return 0, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	f.Now, f.After = e.opts.Now(), store.MemoryCursor{}
	return e.store.CountMemories(ctx, ns, f)
}

// Owners counts the memories that match a filter by user, agent and session.
func (e Memories) Owners(ctx context.Context, namespace string, f store.MemoryFilter) ([]store.OwnerCount, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, err
	}
	if err := restrictFilter(ctx, &f); err != nil {
		return nil, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.Now = e.opts.Now()
	return e.store.CountOwners(ctx, ns, f)
}

// TurnChanges returns the changes of memories made by extracting facts from a turn.
func (e Sessions) TurnChanges(ctx context.Context, namespace, turn string, by Viewer) ([]store.TurnChange, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	if by, err = canRead(ctx, by); err != nil {
		return nil, err
	}
	return e.store.TurnChanges(ctx, ns, turn, by.User, by.Anyone)
}
