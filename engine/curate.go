package engine

import (
	"cmp"
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// Viewer is who looks at memories: a user, who also sees those of no user, or anyone.
type Viewer struct {
	User string
	// Anyone sees every user's memories.
	Anyone bool
}

// MemoryHistory returns what happened to a memory, oldest first.
func (e *Engine) MemoryHistory(ctx context.Context, namespace, id string, by Viewer) ([]memory.Change, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	if by, err = seenBy(ctx, by); err != nil {
		return nil, err
	}
	return e.store.MemoryHistory(ctx, ns, id, by.User, by.Anyone)
}

// UndoMemory takes back the newest change of a memory and returns it; see
// [store.Store.Undo].
func (e *Engine) UndoMemory(ctx context.Context, namespace, id string, by Viewer) (memory.Change, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return memory.Change{}, err
	}
	if by, err = e.changedBy(ctx, namespace, id, by); err != nil {
		return memory.Change{}, err
	}
	done, seq, err := e.store.Undo(ctx, ns, id, by.User, by.Anyone)
	if err != nil {
		return done, err
	}
	return done, e.followMemories(ctx, ns, seq)
}

// UndoTurn takes back what was learnt from a turn, and returns the ids of the
// memories that changed. The turn itself, and the memory of its words, stay.
func (e *Engine) UndoTurn(ctx context.Context, namespace, turn string, by Viewer) ([]string, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	if by, err = e.changedBy(ctx, namespace, turn, by); err != nil {
		return nil, err
	}
	ids, seq, err := e.store.UndoTurn(ctx, ns, turn, by.User, by.Anyone)
	if err != nil {
		return nil, err
	}
	return ids, e.followMemories(ctx, ns, seq)
}

func (e *Engine) followMemories(ctx context.Context, ns int64, seq uint64) error {
	if seq == 0 {
		return nil
	}
	return e.collections.catchUp(ctx, store.Collection{Namespace: ns, Kind: store.Memories}, seq)
}

// Quarantine lists memories that wait for somebody to look at them, oldest first,
// after a place (0 is the start), and returns the place where the next page starts,
// which is 0 on the last. Of the filter, the scope and the limit count.
func (e *Engine) Quarantine(ctx context.Context, namespace string, f store.MemoryFilter, after int64) ([]store.Quarantined, int64, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, 0, err
	}
	if err := boundFilter(ctx, &f); err != nil {
		return nil, 0, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return []store.Quarantined{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	list, err := e.store.Quarantine(ctx, ns, f, after)
	if err != nil || len(list) < f.Limit {
		return list, 0, err
	}
	return list, list[len(list)-1].Row, nil
}

// ReleaseMemory takes a memory out of quarantine: it is found from then on.
func (e *Engine) ReleaseMemory(ctx context.Context, namespace, id string, by Viewer) (memory.Memory, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return memory.Memory{}, err
	}
	if by, err = e.changedBy(ctx, namespace, id, by); err != nil {
		return memory.Memory{}, err
	}
	q, err := e.store.Quarantined(ctx, ns, id, by.User, by.Anyone)
	if err != nil {
		return memory.Memory{}, err
	}
	content, err := e.noteContent(ctx, q.Content)
	if err != nil {
		return memory.Memory{}, err
	}
	seq, err := e.store.Release(ctx, ns, id, by.User, by.Anyone, content)
	if err != nil {
		return memory.Memory{}, err
	}
	q.Namespace = namespace
	e.stored(ctx, q.Memory)
	if err := e.followMemories(ctx, ns, seq); err != nil {
		return memory.Memory{}, err
	}
	return e.Memory(ctx, namespace, id, by.User, by.Anyone)
}

// DiscardMemory removes a memory from quarantine.
func (e *Engine) DiscardMemory(ctx context.Context, namespace, id string, by Viewer) error {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return err
	}
	if by, err = e.changedBy(ctx, namespace, id, by); err != nil {
		return err
	}
	return e.store.Discard(ctx, ns, id, by.User, by.Anyone)
}

// Pruned is what a policy let go.
type Pruned struct {
	IDs []string `json:"ids" nullable:"false"`
	// More says that the policy lets go of more than were looked at.
	More bool `json:"more"`
}

// maxPruned is how many memories one call lets go.
const maxPruned = 10_000

// PruneMemories ends memories that a policy lets go, at most 10,000 at once; with dry
// it only says which. What is ended can be brought back by [Engine.UndoMemory].
func (e *Engine) PruneMemories(ctx context.Context, namespace string, f store.MemoryFilter, p memory.PrunePolicy, dry bool) (Pruned, error) {
	out := Pruned{IDs: []string{}}
	if p.MaxAge < 0 || p.MaxItems < 0 || !(p.MinImportance >= 0 && p.MinImportance <= 1) {
		return out, ragctx.Invalid("policy", "has an age or a number below 0, or an importance outside of 0 to 1")
	}
	if err := boundFilter(ctx, &f); err != nil {
		return out, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	f.Now, f.Weights = e.opts.Now(), e.opts.Weights
	f.Own = f.Own || f.UserID != "" // what belongs to nobody is not a user's to let go of
	var seq uint64
	out.IDs, seq, err = e.store.PruneMemories(ctx, ns, f, p, dry, maxPruned)
	if err != nil {
		return out, err
	}
	out.More = len(out.IDs) == maxPruned
	return out, e.followMemories(ctx, ns, seq)
}

// MemoryStats counts memories by tier, type and state. Of the filter, the scope counts.
func (e *Engine) MemoryStats(ctx context.Context, namespace string, f store.MemoryFilter) (store.MemoryStats, error) {
	if err := boundFilter(ctx, &f); err != nil {
		return store.MemoryStats{}, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return store.MemoryStats{ByType: map[string]int{}, ByKind: map[string]int{}}, nil
	}
	if err != nil {
		return store.MemoryStats{}, err
	}
	f.Now = e.opts.Now()
	return e.store.MemoryStats(ctx, ns, f, cmp.Or(e.opts.MaxShortTerm, memory.DefaultMaxShortTerm))
}

// Settle waits until providers, the memory among them, have been told of all turns.
func (e *Engine) Settle(ctx context.Context) error { return e.observer.settle(ctx) }

// SettleSession waits until a session's turns are learnt from; those of others may
// still be under way.
func (e *Engine) SettleSession(ctx context.Context, namespace, session string) error {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.observer.settleThread(ctx, store.Thread(ns, session))
}
