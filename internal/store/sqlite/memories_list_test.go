package sqlite_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

// list returns the ids of the memories that mf finds at t0.
func (f *fixture) list(t *testing.T, mf store.MemoryFilter) []string {
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

func TestListMemoriesFilter(t *testing.T) {
	f := fresh(t) // its clock moves a second at each write
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

// TestMetadataFilterIsThatOfTheIndex: recall finds by metadata exactly what
// [store.Strings] says, which is what indexes compare.
func TestMetadataFilterIsThatOfTheIndex(t *testing.T) {
	f := fresh(t)
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
			if len(f.list(t, store.MemoryFilter{SessionID: id, Filter: ragctx.Filter{Metadata: map[string]string{k: want + "x"}}})) > 0 {
				rt.Errorf("%q: %v was found as %q", k, v, want+"x")
			}
		}
	})
}

func TestNumbersAreKeptAsWritten(t *testing.T) {
	f := fresh(t)
	meta := map[string]any{"n": float64(1234567), "big": json.Number("12345678901234567890"), "b": true, "s": "1e6", "l": []any{1}, "z": nil}
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
	b := f.follow(t, store.Collection{Namespace: f.ns, Kind: store.KindMemories}, 0)
	if diff := cmp.Diff(want, b.Add[0].Item.Metadata); diff != "" {
		t.Errorf("an index is fed -want +got\n%s", diff)
	}
}

// TestPagesNeitherSkipNorRepeat: what was there all the time is listed once,
// whatever comes and goes between the pages.
func TestPagesNeitherSkipNorRepeat(t *testing.T) {
	f := fresh(t)
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

// TestRepeatSaysWhatToFollow: a write that changes nothing is acknowledged like
// the first one, once the index has come that far.
func TestRepeatSaysWhatToFollow(t *testing.T) {
	f := fresh(t)
	f.doc(t, "d", "one", "")
	first := f.doc(t, "d", "two", "")
	if again := f.doc(t, "d", "two", ""); again.Seq < first.Seq {
		t.Errorf("a document: %d, first %d", again.Seq, first.Seq)
	}
	hash := docs.ContentHash(ragctx.Document{ExternalID: "d", Text: "two"})
	if put, ok, err := f.Has(t.Context(), f.ns, "d", hash[:], ""); !ok || err != nil || put.Seq < first.Seq {
		t.Errorf("Has: %+v %v %v, first %d", put, ok, err, first.Seq)
	}
	turn := ragctx.Turn{ID: "t", Prompt: "p", Occurred: t0}
	m, units, _, err := memory.Episode(turn)
	if err != nil {
		t.Fatal(err)
	}
	var seqs [2]uint64
	for i := range seqs {
		if _, seqs[i], _, err = f.PutTurn(t.Context(), f.ns, turn, m, f.content(m.Content, units), false); err != nil {
			t.Fatal(err)
		}
	}
	if seqs[0] == 0 || seqs[0] != seqs[1] {
		t.Errorf("a turn: %v", seqs)
	}
}

func TestTheSameMemoryTwice(t *testing.T) {
	f := fresh(t)
	put := func(m ragctx.Memory) (ragctx.Memory, store.Status) {
		m, st, _, err := f.PutMemory(t.Context(), f.ns, m, f.content(m.Content, memory.Chunks(m.Content)), store.Tier{})
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

func TestFilesAreTheOwnersAlone(t *testing.T) {
	f := fresh(t)
	f.doc(t, "d", "one", "")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(f.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("the database%s has mode %v", suffix, info.Mode().Perm())
		}
	}
}

// TestEmbeddedByAnother ends a fill that began before the embedder was changed.
func TestEmbeddedByAnother(t *testing.T) {
	f := fresh(t)
	if err := f.ChangeEmbedder(t.Context(), "2", 5); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		embedder int64
		want     string
	}{{1, "5"}, {2, ""}} {
		if err := f.MarkEmbedded(t.Context(), c.embedder, 100); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Setting(t.Context(), store.SettingUnembedded); err != nil || got != c.want {
			t.Errorf("after embedder %d is done, %q is owed, want %q, %v", c.embedder, got, c.want, err)
		}
	}
}
