package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

func testMemories(t *testing.T, open Opener) {
	f := fresh(t, open)
	now := t0.Add(24 * time.Hour)
	old := ragctx.Memory{ID: "old", Content: "x", Importance: .5, Occurred: now.AddDate(0, 0, -300)}
	remember(t, f, old)
	remember(t, f, ragctx.Memory{ID: "new", Content: "x", Importance: .5, Occurred: now, Tags: []string{"k"}})
	remember(t, f, ragctx.Memory{
		ID: "vip", Content: "x", Importance: 1, Occurred: now, SessionID: "s",
		Type: ragctx.MemorySemantic,
	})
	remember(t, f, ragctx.Memory{ID: "ada", Content: "x", UserID: "ada", Importance: .1, Occurred: now})
	remember(t, f, ragctx.Memory{ID: "bob", Content: "x", UserID: "bob", Importance: .1, Occurred: now})
	remember(t, f, ragctx.Memory{ID: "gone", Content: "x", Expires: now})
	if st := remember(t, f, old); st != store.Unchanged {
		t.Errorf("the same again: %s", st)
	}
	ids := func(mf store.MemoryFilter) (out []string) {
		mf.Now = now
		if mf.Limit == 0 {
			mf.Limit = 10
		}
		list, err := f.ListMemories(t.Context(), f.ns, mf)
		if err != nil {
			t.Fatal(err)
		}
		last := 2.0
		for _, m := range list {
			if m.Score > last {
				t.Errorf("score %v after %v", m.Score, last)
			}
			last = m.Score
			out = append(out, m.ID)
		}
		return out
	}
	for _, c := range []struct {
		f    store.MemoryFilter
		want []string
	}{
		{store.MemoryFilter{}, []string{"vip", "new", "old"}},
		{store.MemoryFilter{UserID: "ada"}, []string{"vip", "new", "ada", "old"}},
		{store.MemoryFilter{AnyUser: true}, []string{"vip", "new", "ada", "bob", "old"}},
		{store.MemoryFilter{SessionID: "s"}, []string{"vip"}},
		{store.MemoryFilter{Filter: ragctx.Filter{Tags: []string{"k"}}}, []string{"new"}},
		{store.MemoryFilter{Types: []ragctx.MemoryType{ragctx.MemorySemantic}}, []string{"vip"}},
	} {
		if got := ids(c.f); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
	if _, err := f.DeleteMemory(t.Context(), f.ns, "bob", "ada", false); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("ada deleted bob's memory: %v", err)
	}
	if _, _, _, err := f.ReplaceMemory(t.Context(), f.ns, ragctx.Memory{ID: "bob", Content: "y", UserID: "ada"},
		store.Content{},
		store.Tier{}, 0); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("ada replaced bob's memory: %v", err)
	}
	if _, err := f.DeleteMemory(t.Context(), f.ns, "vip", "", false); err != nil {
		t.Error(err)
	}
	if _, err := f.Memory(t.Context(), f.ns, "vip", now); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a deleted memory: %v", err)
	}
}

// list returns the ids of the memories that a filter selects at t0.
func (f *world) list(t *testing.T, mf store.MemoryFilter) []string {
	t.Helper()
	if mf.Now.IsZero() {
		mf.Now = t0
	}
	if mf.Limit == 0 {
		mf.Limit = 10
	}
	found, err := f.ListMemories(t.Context(), f.ns, mf)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, m := range found {
		ids = append(ids, m.ID)
	}
	return ids
}

func testListMemoriesFilter(t *testing.T, open Opener) {
	f := fresh(t, open) // the clock advances at each write
	remember(t, f, ragctx.Memory{ID: "a", Content: "x", Tags: []string{"k", "l"}, Occurred: t0.Add(-time.Hour)})
	remember(t, f, ragctx.Memory{ID: "b", Content: "x", Tags: []string{"k"}, Occurred: t0})
	before, err := f.Memory(t.Context(), f.ns, "b", t0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.DeleteMemory(t.Context(), f.ns, "b", "", true); err != nil {
		t.Fatal(err)
	}
	remember(t, f, ragctx.Memory{ID: "c", Content: "x", Occurred: t0})
	filter := func(rf ragctx.Filter) store.MemoryFilter { return store.MemoryFilter{Filter: rf} }
	for _, c := range []struct {
		f    store.MemoryFilter
		want []string
	}{
		{store.MemoryFilter{}, []string{"c", "a"}},
		{store.MemoryFilter{Exclude: []string{"c", "z"}, Limit: 1}, []string{"a"}},
		{store.MemoryFilter{AsOf: before.Recorded}, []string{"b", "a"}},
		{store.MemoryFilter{AsOf: before.Recorded.Add(-time.Microsecond)}, []string{"a"}},
		{store.MemoryFilter{AsOf: t0.AddDate(-1, 0, 0)}, []string{}},
		{filter(ragctx.Filter{Tags: []string{"l", "k"}}), []string{"a"}},
		{filter(ragctx.Filter{Tags: []string{"l", "m"}}), []string{}},
		{filter(ragctx.Filter{Sources: []string{"x", "mem*"}}), []string{"c", "a"}},
		{filter(ragctx.Filter{Sources: []string{"memory"}}), []string{"c", "a"}},
		{filter(ragctx.Filter{Sources: []string{"mem", "x*", ""}}), []string{}},
		{filter(ragctx.Filter{OccurredAfter: t0}), []string{"c"}},
		{filter(ragctx.Filter{OccurredBefore: t0}), []string{"a"}},
		{filter(ragctx.Filter{OccurredBefore: t0.Add(1)}), []string{"c", "a"}},
		{filter(ragctx.Filter{OccurredAfter: t0.Add(1)}), []string{}},
	} {
		if got := f.list(t, c.f); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

// testMetadataFilter checks that the store compares metadata as indexes do: in the form of [store.Strings].
func testMetadataFilter(t *testing.T, open Opener) {
	f := fresh(t, open)
	n := 0
	text := rapid.StringOfN(rapid.SampledFrom([]rune(`ab1.$[]"'\/ é😀*#`)), 1, 5, -1)
	number := rapid.SampledFrom([]any{1234567, 1e21, 1.5, -0.25, json.Number("12345678901234567890"), json.Number("1e2")})
	value := rapid.OneOf(number, rapid.SampledFrom([]any{true, false, nil, []any{"a"}, map[string]any{"a": "b"}}),
		rapid.Map(text, func(s string) any { return s }))
	rapid.Check(t, func(rt *rapid.T) {
		meta := rapid.MapOfN(text, value, 1, 4).Draw(rt, "metadata")
		n++
		id := fmt.Sprint(n)
		remember(t, f, ragctx.Memory{ID: id, Content: "x", SessionID: id, Metadata: meta})
		scalars := store.Strings(meta)
		for k, v := range meta {
			want, ok := scalars[k]
			found := f.list(t, store.MemoryFilter{SessionID: id, Filter: ragctx.Filter{Metadata: map[string]string{k: want}}})
			if ok != (len(found) == 1) {
				rt.Errorf("%q: %v as %q: found %v", k, v, want, found)
			}
			if len(f.list(t, store.MemoryFilter{
				SessionID: id,
				Filter:    ragctx.Filter{Metadata: map[string]string{k: want + "x"}},
			})) > 0 {
				rt.Errorf("%q: %v was found as %q", k, v, want+"x")
			}
		}
	})
}

// testNumbers checks that numbers in metadata keep their form.
func testNumbers(t *testing.T, open Opener) {
	f := fresh(t, open)
	meta := map[string]any{
		"n": float64(1234567), "big": json.Number("12345678901234567890"), "b": true,
		"s": "1e6", "l": []any{1}, "z": nil,
	}
	want := map[string]string{"n": "1234567", "big": "12345678901234567890", "b": "true", "s": "1e6"}
	if diff := cmp.Diff(want, store.Strings(meta)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	remember(t, f, ragctx.Memory{ID: "m", Content: "x", Metadata: meta})
	m, err := f.Memory(t.Context(), f.ns, "m", t0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, store.Strings(m.Metadata)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	b := f.follow(t, f.memories(), 0)
	if diff := cmp.Diff(want, b.Add[0].Item.Metadata); diff != "" {
		t.Errorf("an index is fed -want +got\n%s", diff)
	}
}

// testMemoryPages checks that a memory that stays is listed once, whatever comes and goes between the pages.
func testMemoryPages(t *testing.T, open Opener) {
	f := fresh(t, open)
	for run := range uint64(8) {
		r := rand.New(rand.NewPCG(run, 0))
		session := fmt.Sprint(run)
		put := func(i int) string {
			id := fmt.Sprintf("%s-%02d", session, i)
			remember(t, f, ragctx.Memory{
				ID: id, SessionID: session, Content: "x", Importance: []float64{.1, .3, 1. / 3}[r.IntN(3)],
				Occurred: t0.Add(-time.Duration(r.IntN(3)) * 24 * time.Hour),
			})
			return id
		}
		stay := make(map[string]int)
		for i := range 8 {
			stay[put(2*i)] = 0
		}
		mf := store.MemoryFilter{SessionID: session, Now: t0, Limit: 3}
		for page := 0; ; page++ {
			found, err := f.ListMemories(t.Context(), f.ns, mf)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range found {
				if _, ok := stay[m.ID]; ok {
					stay[m.ID]++
				}
			}
			if len(found) < mf.Limit {
				break
			}
			last := found[len(found)-1]
			mf.After = store.MemoryCursor{Now: t0, Score: last.Score, ID: last.ID}
			if r.IntN(2) == 0 {
				if _, err := f.DeleteMemory(t.Context(), f.ns, last.ID, "", true); err != nil {
					t.Fatal(err)
				}
			}
			put(2*page + 1)
		}
		for id, n := range stay {
			if n != 1 {
				t.Errorf("%s was listed %d times", id, n)
			}
		}
	}
}

// testSameMemoryTwice checks that a memory without a time keeps the time of its first write.
func testSameMemoryTwice(t *testing.T, open Opener) {
	f := fresh(t, open)
	put := func(m ragctx.Memory) (ragctx.Memory, store.Status) {
		m, st, _, err := f.ReplaceMemory(t.Context(), f.ns, m, f.content(m.Content, memory.Chunks(m.Content)),
			store.Tier{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return m, st
	}
	first, _ := put(ragctx.Memory{ID: "m", Content: "x"})
	again, st := put(ragctx.Memory{ID: "m", Content: "x"})
	if st != store.Unchanged || first.Occurred.IsZero() || !again.Occurred.Equal(first.Occurred) {
		t.Errorf("%s: %+v, first %+v", st, again, first)
	}
	if _, st := put(ragctx.Memory{ID: "m", Content: "x", Occurred: t0}); st != store.Replaced {
		t.Errorf("with another time: %s", st)
	}
}

// testMemoryStates lists and counts memories by their states.
func testMemoryStates(t *testing.T, open Opener) {
	f := fresh(t, open)
	rome := f.learn(t, f.found(said{turn: "a", user: "ada", Fact: about("user", "home", "Rome")}))
	oslo := f.learn(t, f.found(said{turn: "b", user: "ada", at: 1, Fact: about("user", "home", "Oslo")}))
	remember(t, f, ragctx.Memory{ID: "brief", Content: "x", Expires: t0.Add(time.Hour)})
	remember(t, f, ragctx.Memory{ID: "kept", Content: "one"})
	remember(t, f, ragctx.Memory{ID: "kept", Content: "two"})
	for _, id := range []string{"gone", "back"} {
		remember(t, f, ragctx.Memory{ID: id, Content: id})
		if _, err := f.DeleteMemory(t.Context(), f.ns, id, "", true); err != nil {
			t.Fatal(err)
		}
	}
	remember(t, f, ragctx.Memory{ID: "back", Content: "again"})
	for _, c := range []struct {
		f    store.MemoryFilter
		want []string
	}{
		{store.MemoryFilter{}, []string{"back", "brief", oslo.ID, "kept"}},
		{store.MemoryFilter{State: ragctx.MemoryActive}, []string{"back", "brief", oslo.ID, "kept"}},
		{store.MemoryFilter{Now: t0.Add(2 * time.Hour)}, []string{"back", oslo.ID, "kept"}},
		{store.MemoryFilter{State: ragctx.MemoryExpired}, []string{}},
		{store.MemoryFilter{State: ragctx.MemoryExpired, Now: t0.Add(2 * time.Hour)}, []string{"brief"}},
		{store.MemoryFilter{State: ragctx.MemorySuperseded}, []string{rome.ID}},
		{store.MemoryFilter{State: ragctx.MemorySuperseded, Contains: "OSLO"}, []string{}},
		{store.MemoryFilter{State: ragctx.MemoryDeleted}, []string{"gone"}},
		{store.MemoryFilter{Contains: "home of", Limit: 1}, []string{oslo.ID}},
		{store.MemoryFilter{After: store.MemoryCursor{ID: "brief"}, Limit: 1}, []string{oslo.ID}},
	} {
		c.f.AnyUser, c.f.Order = true, store.ByID
		if got := f.list(t, c.f); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
	for _, c := range []struct {
		f    store.MemoryFilter
		want int
	}{
		{store.MemoryFilter{}, 3},
		{store.MemoryFilter{AnyUser: true}, 4},
		{store.MemoryFilter{UserID: "ada"}, 4},
		{store.MemoryFilter{UserID: "ada", Own: true}, 1},
		{store.MemoryFilter{Own: true}, 3},
		{store.MemoryFilter{UserID: "eve", Own: true}, 0},
	} {
		c.f.Now = t0
		if n, err := f.CountMemories(t.Context(), f.ns, c.f); err != nil || n != c.want {
			t.Errorf("%+v: %d, %v, want %d", c.f, n, err, c.want)
		}
	}
}

func testWorkingTier(t *testing.T, open Opener) {
	f := fresh(t, open)
	put := func(id string, importance float64, session string) {
		t.Helper()
		m := ragctx.Memory{
			ID: id, Content: id, Type: ragctx.MemoryWorking, Importance: importance,
			SessionID: session, Occurred: t0,
		}
		if _, _, _, err := f.ReplaceMemory(t.Context(), f.ns, m, f.content(id, memory.Chunks(id)),
			store.Tier{Working: 2}, 0); err != nil {
			t.Fatal(err)
		}
	}
	put("a", 0.5, "s")
	put("b", 0.9, "s")
	put("elsewhere", 0.1, "other")
	put("c", 0.6, "s") // ends a
	put("d", 0.1, "s") // ends d itself
	if got := f.list(t, store.MemoryFilter{Order: store.ByID}); !slices.Equal(got, []string{"b", "c", "elsewhere"}) {
		t.Errorf("left %v", got)
	}
	h, err := f.MemoryHistory(t.Context(), f.ns, "d", "", true)
	if err != nil || len(h) != 2 || h[1].Op != ragctx.OpPruned || h[1].By != ragctx.ByPolicy {
		t.Errorf("%+v, %v", h, err)
	}
	st, err := f.MemoryStats(t.Context(), f.ns, store.MemoryFilter{Now: t0}, 2)
	if err != nil || st.Working != 3 || st.LongTerm != 3 || st.ShortTerm != 2 || st.Superseded != 2 {
		t.Errorf("%+v, %v", st, err)
	}
}

func testPrunePolicy(t *testing.T, open Opener) {
	f := fresh(t, open)
	old := t0.AddDate(-1, 0, 0)
	for _, m := range []ragctx.Memory{
		{ID: "old", Importance: 0.4, Occurred: old},
		{ID: "old dear", Importance: 0.5, Occurred: old},
		{ID: "old pinned", Importance: 0, Occurred: old, Pinned: true},
		{ID: "new", Importance: 0, Occurred: t0},
		{ID: "hers", Importance: 0, Occurred: old, UserID: "ada"},
		{ID: "expired", Occurred: old, Expires: old.Add(1000)},
	} {
		m.Content = m.ID
		remember(t, f, m)
	}
	for _, c := range []struct {
		p    ragctx.PrunePolicy
		want string
	}{
		{ragctx.PrunePolicy{}, ""},
		{ragctx.DefaultPrunePolicy(), "old"},
		{ragctx.PrunePolicy{MaxAge: time.Hour, MinImportance: 1}, "old,old dear"},
		{ragctx.PrunePolicy{MinImportance: 1}, ""},
		{ragctx.PrunePolicy{MaxItems: 2}, "old"}, // pinned ones do not count
		{ragctx.PrunePolicy{MaxAge: time.Hour, MinImportance: 0.45, MaxItems: 1}, "new,old"},
	} {
		for _, dry := range []bool{true, false} {
			ids, _, err := f.PruneMemories(t.Context(), f.ns, store.MemoryFilter{Now: t0}, c.p, dry, 10)
			slices.Sort(ids)
			if got := strings.Join(ids, ","); err != nil || got != c.want {
				t.Errorf("%+v, dry %v: %s, %v; want %s", c.p, dry, got, err, c.want)
			}
			if n := len(f.list(t, store.MemoryFilter{})); dry && n != 4 {
				t.Errorf("a dry run leaves %d", n)
			}
		}
		for _, id := range []string{"old", "old dear", "new"} {
			if _, err := f.Memory(t.Context(), f.ns, id, t0); errors.Is(err, ragctx.ErrNotFound) {
				if _, _, err := f.Undo(t.Context(), f.ns, id, "", true); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func testUses(t *testing.T, open Opener) {
	f := fresh(t, open)
	remember(t, f, ragctx.Memory{ID: "m", Content: "one"})
	use := func(id string, n int, at time.Time) store.Use {
		return store.Use{Namespace: f.ns, Key: id, Count: n, Last: at}
	}
	err := f.RecordUses(t.Context(), []store.Use{use("m", 2, t0.Add(time.Hour)), use("none", 1, t0), use("m", 1, t0)})
	if err != nil {
		t.Fatal(err)
	}
	remember(t, f, ragctx.Memory{ID: "m", Content: "two"}) // versions do not contain counts
	m, err := f.Memory(t.Context(), f.ns, "m", t0)
	if err != nil || m.Uses != 3 || !m.LastUsed.Equal(t0.Add(time.Hour)) || m.Version != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	if st := remember(t, f, ragctx.Memory{ID: "m", Content: "two"}); st != store.Unchanged {
		t.Errorf("uses make a version: %s", st)
	}
	if _, err := f.EraseMemory(t.Context(), f.ns, "m", "", true); err != nil {
		t.Fatal(err)
	}
	remember(t, f, ragctx.Memory{ID: "m", Content: "three"})
	if m, err := f.Memory(t.Context(), f.ns, "m", t0); err != nil || m.Uses != 0 {
		t.Errorf("erased uses are back: %+v, %v", m, err)
	}
}

// testReplaceMemory checks that a write over a version fails if another one is current.
func testReplaceMemory(t *testing.T, open Opener) {
	f := fresh(t, open)
	put := func(content string, over int) error {
		m := ragctx.Memory{ID: "m", Content: content, Occurred: t0}
		_, _, _, err := f.ReplaceMemory(t.Context(), f.ns, m, f.content(content, memory.Chunks(content)), store.Tier{}, over)
		return err
	}
	for i, c := range []struct {
		content string
		over    int
		bad     bool
	}{{"none", 1, true}, {"one", 0, false}, {"two", 1, false}, {"late", 1, true}, {"three", 2, false}, {"any", 0, false}} {
		if err := put(c.content, c.over); c.bad != errors.Is(err, ragctx.ErrConflict) || !c.bad && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func testMemoryTags(t *testing.T, open Opener) {
	f := fresh(t, open)
	for i, tags := range [][]string{{"b", "a"}, {"b"}, nil, {"c"}} {
		remember(t, f, ragctx.Memory{ID: fmt.Sprint(i), Content: "x", Tags: tags, UserID: []string{"", "", "", "ada"}[i]})
	}
	for limit, want := range map[int]string{10: "[{b 2} {a 1}]", 1: "[{b 2}]"} {
		tags, err := f.MemoryTags(t.Context(), f.ns, store.MemoryFilter{Now: t0, Limit: limit}, store.TagCount{})
		if err != nil || fmt.Sprint(tags) != want {
			t.Errorf("%v, %v; want %s", tags, err, want)
		}
	}
	if tags, err := f.MemoryTags(t.Context(), f.ns, store.MemoryFilter{Now: t0, Limit: 9, Kinds: facts.Kinds()},
		store.TagCount{}); err != nil || tags == nil || len(tags) > 0 {
		t.Errorf("%v, %v", tags, err)
	}
}
