package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/providers/procedures"
)

// maxPinned bounds the memories of each kind, and the skills, that are considered for a stable
// block. More would not fit into any sensible one.
const maxPinned = 200

// maxPreferences bounds the preferences of an answer without blocks. A user may have hundreds, and most
// concern few questions; instructions concern all.
const maxPreferences = 10

// pinnedItems returns the pinned items of q's scope, which belong in every prompt: pinned memories by
// descending importance; the user's instructions and preferences, each newest first. An answer in blocks gets
// decisions, other profile memories by descending importance, and published procedures, too.
// Their places in the block put procedures first, and within each group the latest writes last, so that
// a new item changes only the end of its group.
//
// The asking session does not limit them: a user's statements in one session hold in all.
func (e *core) pinnedItems(ctx context.Context, q ragctx.ContextQuery) ([]resolve.Pinned, error) {
	var found []pinnedItem
	if q.Wants(ragctx.TypeMemory) {
		filters := []store.MemoryFilter{
			{Pinned: true, Order: store.ByImportance, Limit: maxPinned},
			{Profile: true, Order: store.ByRecency, Limit: maxPinned, Kinds: standingKinds[:1]},
			{Profile: true, Order: store.ByRecency, Limit: maxPreferences, Kinds: standingKinds[1:2]},
		}
		if q.Blocks {
			filters = []store.MemoryFilter{
				filters[0],
				{Profile: true, Order: store.ByRecency, Limit: maxPinned, Kinds: standingKinds[:]},
				{Profile: true, Order: store.ByImportance, Limit: maxPinned},
			}
		}
		for _, f := range filters {
			f.UserID, f.Filter, f.AsOf, f.Now = q.UserID, q.Filter, q.AsOf, q.Now
			f.Exclude = q.Exclude
			memories, _, err := e.Memories().List(ctx, q.Namespace, f)
			if err != nil {
				return nil, err
			}
			slices.SortStableFunc(memories, func(a, b ragctx.Memory) int { return cmp.Compare(groupOf(a), groupOf(b)) })
			for _, m := range memories {
				if m.AgentID == "" || q.AgentID == "" || m.AgentID == q.AgentID {
					found = append(found, pinnedItem{stableItem(m, q.Depth), groupOf(m), m.Recorded})
				}
			}
		}
	}
	if q.Blocks && q.Wants(ragctx.TypeSkill) {
		q.Query, q.MaxResults = "", maxPinned
		all, err := e.skills.Query(ctx, q.WithTypes(ragctx.TypeSkill))
		if err != nil {
			return nil, err
		}
		for _, it := range all.Items {
			it.Provider = procedures.Name
			found = append(found, pinnedItem{it.WithRelevance(0), 0, time.Time{}})
		}
	}
	return assignPlaces(found), nil
}

// standingKinds are the kinds of facts that are standing wishes of the user, in their order.
var standingKinds = [...]ragctx.FactKind{ragctx.FactInstruction, ragctx.FactPreference, ragctx.FactDecision}

// groupOf returns the group of a memory in a stable block: pinned memories, the kinds of standing
// wishes, other profile memories.
func groupOf(m ragctx.Memory) int {
	if m.Pinned {
		return 1
	}
	i := -1
	if m.About != nil {
		i = slices.Index(standingKinds[:], m.About.Kind)
	}
	if i < 0 {
		i = len(standingKinds)
	}
	return 2 + i
}

// pinnedItem is an item of a stable block before it has a place.
type pinnedItem struct {
	ragctx.ContextItem

	kind     int // order in the block
	recorded time.Time
}

// stableItem returns a memory as an item that does not change over time: without its date, and without
// its score, which decays.
func stableItem(m ragctx.Memory, depth ragctx.ContextDepth) ragctx.ContextItem {
	m.Occurred, m.Score = time.Time{}, 0
	it := memory.Item(m, depth)
	it.Provider = memory.Name
	return it
}

// assignPlaces assigns places in the block; the order of the result stays by rank.
func assignPlaces(found []pinnedItem) []resolve.Pinned {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := found[i], found[j]
		return cmp.Or(cmp.Compare(a.kind, b.kind), a.recorded.Compare(b.recorded), cmp.Compare(a.ID, b.ID))
	})
	out := make([]resolve.Pinned, len(found))
	for place, i := range order {
		out[i] = resolve.Pinned{Item: found[i].ContextItem, Place: place}
	}
	return out
}

// markerSecret caches the secret that the markers of spotlighted text are derived from. It is stored in
// the data directory, because a new one would change every prompt.
type markerSecret struct {
	store store.Settings

	mu     sync.Mutex
	secret []byte
}

// get returns the secret, generating and storing it on first use.
func (m *markerSecret) get(ctx context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.secret != nil {
		return m.secret, nil
	}
	stored, err := m.store.Setting(ctx, store.SettingMarkers)
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(stored)
	if err != nil || len(secret) == 0 {
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // it never fails
		if err := m.store.SetSetting(ctx, store.SettingMarkers, hex.EncodeToString(secret)); err != nil {
			return nil, err
		}
	}
	m.secret = secret
	return secret, nil
}
