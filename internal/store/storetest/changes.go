package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// testFollow compares the followed changes with the catalog.
func testFollow(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.doc(t, "a", "one\n\ntwo", "")
	f.doc(t, "b", strings.Repeat("A longer text that makes several chunks. ", 60), "")
	f.doc(t, "a", "three", "")
	if _, err := f.DeleteDocument(t.Context(), f.ns, "b"); err != nil {
		t.Fatal(err)
	}
	followed := f.follow(t, f.documents(), 0)
	var known index.Batch
	err := f.Catalog(t.Context(), f.documents(), func(b index.Batch) error {
		known.Seq, known.Add = b.Seq, append(known.Add, b.Add...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if known.Seq != followed.Seq || len(known.Add) != len(followed.Add) || len(followed.Ended) != 2 {
		t.Fatalf("catalog of %d units up to %d, followed %d units and %d ends up to %d",
			len(known.Add), known.Seq, len(followed.Add), len(followed.Ended), followed.Seq)
	}
	slices.SortFunc(known.Add, func(a, b index.Chunk) int { return cmp.Compare(a.ID, b.ID) })
	ended := 0
	for i, k := range known.Add {
		w := followed.Add[i]
		if k.ID != w.ID || k.Seq != w.Seq || k.Ordinal != w.Ordinal || k.Item.ID != w.Item.ID || w.Text == "" ||
			w.Vector == nil {
			t.Errorf("unit %d is catalogued as %+v, followed as %+v", i, k, w)
		}
		if !k.Item.Superseded.IsZero() && k.Ordinal == 0 {
			ended++
		}
	}
	if ended != 2 {
		t.Errorf("%d ended items, want 2", ended)
	}
	// Texts and vectors that the index does not need are left out.
	b, err := f.Follow(t.Context(), f.documents(), 0, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range b.Add {
		if e.Text != "" || e.Title != "" || e.Vector != nil {
			t.Errorf("unit %d came with text or vector", e.ID)
		}
	}
}

// testFollowConcurrently checks that a follower misses no change of concurrent writers: no change becomes visible after one
// with a greater number.
func testFollowConcurrently(t *testing.T, open Opener) {
	const writers, each = 4, 20
	f := fresh(t, open)
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				p := Prepare(t, fmt.Sprintf("%d/%d", w, i), "one")
				if _, err := f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	items := make(map[uint64]bool)
	var seq uint64
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		b := f.follow(t, f.documents(), seq)
		if seq = b.Seq; t.Failed() {
			return
		}
		for _, c := range b.Add {
			items[c.Item.ID] = true
		}
	}
	if len(items) != writers*each {
		t.Errorf("%d documents were followed, %d written", len(items), writers*each)
	}
}

// testRepeatedWrite checks that a write that changes nothing names the change of the first write: the indexes
// may not have reached it yet.
func testRepeatedWrite(t *testing.T, open Opener) {
	f := fresh(t, open)
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
	var seqs [2]uint64
	for i := range seqs {
		var err error
		if _, seqs[i], _, err = f.putTurn(t, turn, false); err != nil {
			t.Fatal(err)
		}
	}
	if seqs[0] == 0 || seqs[0] != seqs[1] {
		t.Errorf("a turn: %v", seqs)
	}
}

// testSpeakers checks that chunks carry their speakers to the indexes.
func testSpeakers(t *testing.T, open Opener) {
	f := fresh(t, open)
	if _, _, _, err := f.putTurn(t, ragctx.Turn{ID: "t", Messages: []ragctx.Message{
		{Role: ragctx.RoleUser, Name: "Ada", Content: ragctx.Text("I moved in May.")},
		ragctx.TextMessage(ragctx.RoleAssistant, "Where to?"),
	}}, false); err != nil {
		t.Fatal(err)
	}
	var followed, listed []index.Speaker
	for _, e := range f.follow(t, f.memories(), 0).Add {
		followed = append(followed, e.Speaker)
	}
	if err := f.Catalog(t.Context(), f.memories(), func(b index.Batch) error {
		for _, e := range b.Add {
			listed = append(listed, e.Speaker)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []index.Speaker{{Role: "user", Name: "Ada", Timed: true}, {Role: "assistant"}}
	if !slices.Equal(followed, want) || !slices.Equal(listed, want) {
		t.Errorf("followed %v, listed %v, want %v", followed, listed, want)
	}
}

// testCommits checks that writes change the state of their namespace as answers see it, and no other.
func testCommits(t *testing.T, open Opener) {
	f := fresh(t, open)
	other := must(f.Namespace(t.Context(), "other", true))(t)
	own, others, newest := f.Commits(f.ns), f.Commits(other), must(f.NewestChange(t.Context()))(t)
	put := f.doc(t, "a", "one", "")
	if f.Commits(f.ns) == own || f.Commits(other) != others {
		t.Errorf("commits %+v and %+v after a write; before it %+v and %+v", f.Commits(f.ns), f.Commits(other), own, others)
	}
	if n := must(f.NewestChange(t.Context()))(t); n != put.Seq || n <= newest {
		t.Errorf("the newest change is %d, the write was %d", n, put.Seq)
	}
	own = f.Commits(f.ns)
	f.spooled(t, "job", store.JobItem{N: 1, State: store.ItemPending})
	if f.Commits(f.ns) != own {
		t.Error("a job has changed the answers")
	}
}

// testTokens checks that a token identifies an opening that changed the database.
func testTokens(t *testing.T, open Opener) {
	dir := t.TempDir()
	f := openIn(t, open, dir, Options{})
	f.doc(t, "a", "one", "")
	first := f.Token()
	if first == "" || !f.KnowsToken(first) || f.KnowsToken("unknown") {
		t.Errorf("token %q", first)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g := openIn(t, open, dir, Options{}) // writes nothing
	if g.Token() != first || !g.KnowsToken(first) {
		t.Errorf("token %q, then %q", first, g.Token())
	}
	g.doc(t, "a", "two", "")
	if g.Token() == first || !g.KnowsToken(first) || !g.KnowsToken(g.Token()) {
		t.Errorf("token %q, after a change %q", first, g.Token())
	}
	if fresh(t, open).KnowsToken(first) {
		t.Error("another store knows the token")
	}
}

// testNextExpiry finds the times at which items expire.
func testNextExpiry(t *testing.T, open Opener) {
	f := fresh(t, open)
	remember(t, f, ragctx.Memory{ID: "stays", Content: "x"})
	for hours, id := range []string{"now", "one", "two"} {
		remember(t, f, ragctx.Memory{ID: id, Content: "x", Expires: t0.Add(time.Duration(hours) * time.Hour)})
	}
	var got []time.Time
	for at := t0; ; {
		at = must(f.NextExpiry(t.Context(), f.ns, at))(t)
		if at.IsZero() {
			break
		}
		got = append(got, at)
	}
	if len(got) != 2 || !got[0].Equal(t0.Add(time.Hour)) || !got[1].Equal(t0.Add(2*time.Hour)) {
		t.Errorf("expiries %v", got)
	}
}
