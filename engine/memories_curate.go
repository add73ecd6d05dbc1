package engine

import (
	"cmp"
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// Viewer is the identity that reads or changes memories: a user (including memories without a
// user) or any user.
type Viewer struct {
	User string
	// Anyone includes the memories of all users.
	Anyone bool
}

// History returns the changes of a memory, oldest first.
func (e Memories) History(ctx context.Context, namespace, id string, by Viewer) ([]ragctx.MemoryChange, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	if by, err = canRead(ctx, by); err != nil {
		return nil, err
	}
	return e.store.MemoryHistory(ctx, ns, id, by.User, by.Anyone)
}

// Undo reverts the newest change of a memory and returns it; see [store.Curation].
func (e Memories) Undo(ctx context.Context, namespace, id string, by Viewer) (ragctx.MemoryChange, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return ragctx.MemoryChange{}, err
	}
	if by, err = e.canModify(ctx, namespace, id, by); err != nil {
		return ragctx.MemoryChange{}, err
	}
	done, seq, err := e.store.Undo(ctx, ns, id, by.User, by.Anyone)
	if err != nil {
		return done, err
	}
	return done, e.catchUpMemories(ctx, ns, seq)
}

// UndoTurn reverts the facts extracted from a turn, and returns the ids of the changed memories.
// The turn and the episode made of its words stay.
func (e Sessions) UndoTurn(ctx context.Context, namespace, turn string, by Viewer) ([]string, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	if by, err = e.canModify(ctx, namespace, turn, by); err != nil {
		return nil, err
	}
	ids, seq, err := e.store.UndoTurn(ctx, ns, turn, by.User, by.Anyone)
	if err != nil {
		return nil, err
	}
	return ids, e.catchUpMemories(ctx, ns, seq)
}

func (e *core) catchUpMemories(ctx context.Context, ns int64, seq uint64) error {
	if seq == 0 {
		return nil
	}
	return e.collections.CatchUp(ctx, store.Collection{Namespace: ns, Kind: store.KindMemories}, seq)
}

// Quarantine lists quarantined memories, oldest first, after a cursor (0 is the start), and returns
// the cursor of the next page (0 on the last). Only the scope and the limit of the filter apply.
func (e Memories) Quarantine(
	ctx context.Context, namespace string, f store.MemoryFilter, after int64,
) ([]store.Quarantined, int64, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, 0, err
	}
	if err := restrictFilter(ctx, &f); err != nil {
		return nil, 0, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return []store.Quarantined{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	page := f.Limit
	f.Limit++
	list, err := e.store.Quarantine(ctx, ns, f, after)
	if err != nil || len(list) <= page {
		return list, 0, err
	}
	return list[:page], list[page-1].Row, nil
}

// Release takes a memory out of quarantine, so that queries find it.
func (e Memories) Release(ctx context.Context, namespace, id string, by Viewer) (ragctx.Memory, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return ragctx.Memory{}, err
	}
	if by, err = e.canModify(ctx, namespace, id, by); err != nil {
		return ragctx.Memory{}, err
	}
	q, err := e.store.Quarantined(ctx, ns, id, by.User, by.Anyone)
	if err != nil {
		return ragctx.Memory{}, err
	}
	content, err := e.textContent(ctx, q.Content)
	if err != nil {
		return ragctx.Memory{}, err
	}
	seq, err := e.store.Release(ctx, ns, id, by.User, by.Anyone, content)
	if err != nil {
		return ragctx.Memory{}, err
	}
	q.Namespace = namespace
	e.publishStored(ctx, q.Memory)
	if err := e.catchUpMemories(ctx, ns, seq); err != nil {
		return ragctx.Memory{}, err
	}
	return e.Memories().Get(ctx, namespace, id, by.User, by.Anyone)
}

// Discard removes a memory from quarantine.
func (e Memories) Discard(ctx context.Context, namespace, id string, by Viewer) error {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return err
	}
	if by, err = e.canModify(ctx, namespace, id, by); err != nil {
		return err
	}
	return e.store.Discard(ctx, ns, id, by.User, by.Anyone)
}

// Pruned is the result of [Memories.Prune].
type Pruned struct {
	IDs []string `json:"ids" nullable:"false"`
	// More is true if the policy matches further memories; call again.
	More bool `json:"more"`
}

// maxPruned is the most memories that one call prunes.
const maxPruned = 10_000

// Prune ends the memories that a policy selects, at most 10,000 per call. With dry it only
// returns their ids. A pruned memory can be restored by [Memories.Undo].
func (e Memories) Prune(
	ctx context.Context, namespace string, f store.MemoryFilter, p ragctx.PrunePolicy, dry bool,
) (Pruned, error) {
	out := Pruned{IDs: []string{}}
	if p.MaxAge < 0 || p.MaxItems < 0 || !(p.MinImportance >= 0 && p.MinImportance <= 1) {
		return out, ragctx.Invalid("policy", "has an age or a number below 0, or an importance outside of 0 to 1")
	}
	if err := restrictFilter(ctx, &f); err != nil {
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
	f.Own = f.Own || f.UserID != "" // a user must not prune memories without a user
	var seq uint64
	out.IDs, seq, err = e.store.PruneMemories(ctx, ns, f, p, dry, maxPruned)
	if err != nil {
		return out, err
	}
	out.More = len(out.IDs) == maxPruned
	return out, e.catchUpMemories(ctx, ns, seq)
}

// Stats counts memories by tier, type and state. Only the scope of the filter applies.
func (e Memories) Stats(ctx context.Context, namespace string, f store.MemoryFilter) (store.MemoryStats, error) {
	if err := restrictFilter(ctx, &f); err != nil {
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
	return e.store.MemoryStats(ctx, ns, f, cmp.Or(e.opts.MaxShortTerm, ragctx.DefaultShortTermMemories))
}

// SettleAll waits until all turns have been delivered to all observers, including fact extraction.
func (e Sessions) SettleAll(ctx context.Context) error { return e.turns.settle(ctx) }

// Settle waits until a session's turns have been delivered; turns of other sessions may
// still be pending.
func (e Sessions) Settle(ctx context.Context, namespace, session string) error {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.turns.settleSession(ctx, ns, session)
}
