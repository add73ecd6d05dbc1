package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// curator changes memories at random.
type curator struct {
	*rapid.T
	*world

	turns int
	keys  []string // ids of all memories
}

func (c *curator) put() {
	m := ragctx.Memory{
		ID: c.key(), Content: rapid.SampledFrom([]string{"one", "two", "three"}).Draw(c.T, "content"), UserID: "ada",
		Importance: rapid.SampledFrom([]float64{0.1, 0.9}).Draw(c.T, "importance"), Pinned: rapid.Bool().Draw(c.T, "pinned"),
		Type:     rapid.SampledFrom([]ragctx.MemoryType{ragctx.MemoryEpisodic, ragctx.MemoryWorking}).Draw(c.T, "type"),
		Occurred: t0,
	}
	_, _, _, err := c.ReplaceMemory(c.Context(), c.ns, m, c.content(m.Content, memory.Chunks(m.Content)),
		store.Tier{Working: 2}, 0)
	c.must(err)
}

// key draws one of a few ids, or the id of an extracted memory.
func (c *curator) key() string { return rapid.SampledFrom(c.keys).Draw(c.T, "key") }

func (c *curator) learnSome() {
	c.turns++
	var lessons []store.ExtractedFact
	for range rapid.IntRange(1, 3).Draw(c.T, "facts") {
		fact := plain(rapid.SampledFrom([]string{"Tea.", "Coffee."}).Draw(c.T, "preference"))
		if rapid.Bool().Draw(c.T, "exclusive") {
			fact = about("user", rapid.SampledFrom([]string{"home", "pet"}).Draw(c.T, "attribute"),
				rapid.SampledFrom([]string{"x", "y", "z"}).Draw(c.T, "value"))
		}
		l := c.found(said{
			turn: fmt.Sprint("t", c.turns), user: "ada", at: rapid.IntRange(-50, 50).Draw(c.T, "at"),
			Fact: fact,
		})
		if all := c.current(); len(all) > 0 && rapid.IntRange(0, 4).Draw(c.T, "named") == 0 {
			l.Supersedes = []string{rapid.SampledFrom(all).Draw(c.T, "superseded").ID}
		}
		lessons = append(lessons, l)
	}
	_, _, err := c.StoreFacts(c.Context(), c.ns, lessons, false)
	c.must(err)
	for _, l := range lessons {
		if !slices.Contains(c.keys, l.Memory.ID) {
			c.keys = append(c.keys, l.Memory.ID)
		}
	}
}

func (c *curator) forget() {
	if _, err := c.DeleteMemory(c.Context(), c.ns, c.key(), "ada", false); !errors.Is(err, ragctx.ErrNotFound) {
		c.must(err)
	}
}

func (c *curator) pruneSome() {
	p := ragctx.PrunePolicy{MaxItems: rapid.IntRange(1, 5).Draw(c.T, "kept")}
	_, _, err := c.PruneMemories(c.Context(), c.ns, store.MemoryFilter{UserID: "ada", Now: t0}, p, false, 10)
	c.must(err)
}

func (c *curator) undoOne() {
	if _, _, err := c.Undo(c.Context(), c.ns, c.key(), "ada", false); !errors.Is(err, ragctx.ErrNotFound) &&
		!errors.Is(err, ragctx.ErrConflict) {
		c.must(err)
	}
}

func (c *curator) undoTurn() {
	_, _, err := c.UndoTurn(c.Context(), c.ns, fmt.Sprint("t", rapid.IntRange(1, 1+c.turns).Draw(c.T, "turn")),
		"ada", false)
	c.must(err)
}

func (c *curator) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// current returns the current memories without the values that an undo does not restore: version numbers and
// times of recording.
func (c *curator) current() []ragctx.Memory {
	found, err := c.ListMemories(c.Context(), c.ns, store.MemoryFilter{
		AnyUser: true, Now: t0, Limit: 1000,
		Order: store.ByID,
	})
	c.must(err)
	for i := range found {
		m := &found[i]
		m.Version, m.Recorded, m.Score = 0, time.Time{}, 0
		slices.SortFunc(m.Sources, func(a, b ragctx.Provenance) int { return cmp.Compare(a.Turn, b.Turn) })
	}
	return found
}

func (c *curator) history(key string) []ragctx.MemoryChange {
	h, err := c.MemoryHistory(c.Context(), c.ns, key, "", true)
	if errors.Is(err, ragctx.ErrNotFound) {
		return nil
	}
	c.must(err)
	return h
}

// truthful compares the histories with the current memories. It returns the newest change after a row that is
// not undone, and its memory.
func (c *curator) truthful(after int64) (newest string, change ragctx.MemoryChange) {
	there := make(map[string]ragctx.Memory)
	found, err := c.ListMemories(c.Context(), c.ns, store.MemoryFilter{
		AnyUser: true, Now: t0, Limit: 1000,
		Order: store.ByID,
	})
	c.must(err)
	for _, m := range found {
		there[m.ID] = m
	}
	for _, key := range c.keys {
		version, undone, undos, content := 0, 0, 0, ""
		for i, h := range c.history(key) {
			if h.Before != version {
				c.Fatalf("%s: change %d, %s, was made of version %d, but %d was current", key, i, h.Op, h.Before, version)
			}
			if h.Before > 0 && h.Previous != content {
				c.Fatalf("%s: change %d, %s: it was %q, not %q", key, i, h.Op, content, h.Previous)
			}
			version, content = h.Version, h.Content
			switch {
			case h.Undone:
				undone++
			case h.Op == ragctx.OpUndone:
				undos++
			case h.ID > max(after, change.ID):
				newest, change = key, h
			}
		}
		m, ok := there[key]
		if ok != (version > 0) || m.Version != version || m.Content != content {
			c.Fatalf("%s: its history ends with version %d, %q; current is %d, %q", key, version, content, m.Version, m.Content)
		}
		if undone != undos {
			c.Fatalf("%s: %d changes are undone by %d undos", key, undone, undos)
		}
	}
	return newest, change
}

// testUndoEverything checks that undoing all changes restores the memories from before them, and that
// histories agree with the memories at all times.
func testUndoEverything(t *testing.T, open Opener) {
	f := fresh(t, open)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		c := &curator{T: rt, world: f.in(t, fmt.Sprint("n", n)), keys: []string{"a", "b", "c", "d"}}
		actions := map[string]func(){
			"put": c.put, "learn": c.learnSome, "delete": c.forget, "prune": c.pruneSome, "undo": c.undoOne,
			"undo turn": c.undoTurn,
		}
		act := func(n int) {
			for range rapid.IntRange(0, n).Draw(rt, "actions") {
				name := rapid.SampledFrom([]string{
					"put", "put", "learn", "learn", "delete", "prune", "undo",
					"undo turn",
				}).Draw(rt, "action")
				actions[name]()
			}
			c.truthful(0)
		}
		act(5)
		before := c.current()
		var mark int64
		var undone []int64 // changes before the mark that may be undone after it
		for _, k := range c.keys {
			for _, h := range c.history(k) {
				if !h.Undone && h.Op != ragctx.OpUndone {
					undone = append(undone, h.ID)
				}
				mark = max(mark, h.ID)
			}
		}
		act(9)
		for _, k := range c.keys {
			for _, h := range c.history(k) {
				if h.Undone && slices.Contains(undone, h.ID) {
					rt.Skip("an undo reverted a change from before")
				}
			}
		}
		for steps := 0; ; steps++ {
			key, change := c.truthful(mark)
			if change.ID == 0 {
				break
			}
			if steps > 200 {
				rt.Fatalf("it never ends: %s %+v", key, change)
			}
			done, _, err := c.Undo(c.Context(), c.ns, key, "ada", false)
			if err != nil || done.ID != change.ID {
				rt.Fatalf("undo %s of %s: %+v, %v", change.Op, key, done, err)
			}
		}
		if diff := gocmp.Diff(before, c.current()); diff != "" {
			rt.Fatalf("after undoing everything (-want +got):\n%s", diff)
		}
	})
}

func testUndo(t *testing.T, open Opener) {
	f := fresh(t, open)
	rome := f.learn(t, f.found(said{turn: "a", user: "ada", Fact: about("user", "home", "Rome")}))
	f.learn(t, f.found(said{turn: "b", user: "ada", at: 1, Fact: about("user", "home", "Rome")}))
	oslo := f.learn(t, f.found(said{turn: "c", user: "ada", at: 2, Fact: about("user", "home", "Oslo")}))
	left := func() string {
		var out []string
		for _, m := range f.facts(t) {
			out = append(out, fmt.Sprint(m.About.Value, len(m.Sources)))
		}
		return strings.Join(out, " ")
	}
	undo := func(id string, op ragctx.ChangeOp, want string) {
		t.Helper()
		done, _, err := f.Undo(t.Context(), f.ns, id, "ada", false)
		if err != nil || done.Op != op || left() != want {
			t.Errorf("undo of %s: %+v, %v; left %s, want %s", id, done, err, left(), want)
		}
	}
	if left() != "Oslo1" {
		t.Fatalf("left %s", left())
	}
	for _, user := range []string{"", "eve"} {
		if _, _, err := f.Undo(t.Context(), f.ns, oslo.ID, user, false); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%q undoes it: %v", user, err)
		}
		if ids, _, err := f.UndoTurn(t.Context(), f.ns, "c", user, false); err != nil || len(ids) > 0 {
			t.Errorf("%q undoes the turn: %v, %v", user, ids, err)
		}
	}
	undo(oslo.ID, ragctx.OpCreated, "Rome2") // and restores the superseded memory
	undo(rome.ID, ragctx.OpMerged, "Rome1")
	undo(rome.ID, ragctx.OpCreated, "")
	if _, _, err := f.Undo(t.Context(), f.ns, rome.ID, "ada", false); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("undo of nothing: %v", err)
	}
	if _, _, err := f.Undo(t.Context(), f.ns, "none", "ada", false); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("undo of none: %v", err)
	}
}

func testUndoTurn(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.learn(t, f.found(said{turn: "a", Fact: about("user", "home", "Rome")}))
	lessons := []store.ExtractedFact{
		f.found(said{turn: "b", at: 1, Fact: about("user", "home", "Oslo")}),
		f.found(said{turn: "b", at: 1, Fact: plain("Tea.")}),
		f.found(said{turn: "b", at: 1, Fact: plain("Cake.")}),
	}
	if _, _, err := f.StoreFacts(t.Context(), f.ns, lessons, false); err != nil {
		t.Fatal(err)
	}
	remember(t, f, ragctx.Memory{ID: lessons[2].Memory.ID, Content: "Cake, but not today."}) // by hand
	changes, err := f.TurnChanges(t.Context(), f.ns, "b", "", true)
	if err != nil || len(changes) != 4 || changes[1].Op != ragctx.OpSuperseded {
		t.Errorf("%+v, %v", changes, err)
	}
	ids, _, err := f.UndoTurn(t.Context(), f.ns, "b", "", true)
	want := []string{lessons[0].Memory.ID, lessons[1].Memory.ID}
	if err != nil || !slices.Equal(ids, want) {
		t.Errorf("%v, %v; want %v", ids, err, want)
	}
	left := f.facts(t)
	if len(left) != 2 || left[0].Content != "Cake, but not today." || left[1].About.Value != "Rome" {
		t.Errorf("left %+v", left)
	}
	if ids, _, err := f.UndoTurn(t.Context(), f.ns, "b", "", true); err != nil || len(ids) > 0 {
		t.Errorf("again: %v, %v", ids, err)
	}
	if left[0].About == nil || left[0].About.Kind != ragctx.FactPreference || len(left[0].Sources) != 1 {
		t.Errorf("a corrected fact has lost its sources: %+v", left[0])
	}
}

// testUndoSecondLife checks that undoing a memory restores only the memories that it superseded itself, and not
// those of a deleted memory with the same id.
func testUndoSecondLife(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.learn(t, f.found(said{turn: "a", Fact: about("user", "home", "Rome")}))
	oslo := f.learn(t, f.found(said{turn: "b", at: 1, Fact: about("user", "home", "Oslo")}))
	if _, err := f.DeleteMemory(t.Context(), f.ns, oslo.ID, "", true); err != nil {
		t.Fatal(err)
	}
	remember(t, f, ragctx.Memory{ID: oslo.ID, Content: "something else"})
	for i, want := range []string{"", "Oslo", "Rome"} {
		done, _, err := f.Undo(t.Context(), f.ns, oslo.ID, "", true)
		if err != nil || done.Op != []ragctx.ChangeOp{ragctx.OpCreated, ragctx.OpDeleted, ragctx.OpCreated}[i] {
			t.Fatalf("%d: %+v, %v", i, done, err)
		}
		var got []string
		for _, m := range f.facts(t) {
			got = append(got, m.About.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("after undo %d: %q, want %q", i, got, want)
		}
	}
}
