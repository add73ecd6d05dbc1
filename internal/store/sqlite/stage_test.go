package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/storetest"
	"github.com/ragctx/ragctx/providers/docs"
)

// count asks the database file itself.
func count(t *testing.T, path, query string) int {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+escape(path)+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func escape(path string) string {
	return strings.NewReplacer("?", "%3f", "#", "%23", "%", "%25", " ", "%20").Replace(path)
}

// eventually waits for something that happens in the background.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not come about", what)
}

func swept(t *testing.T, path string) {
	t.Helper()
	eventually(t, "the removal of what is hidden", func() bool {
		return count(t, path, `SELECT (SELECT count(*) FROM items i WHERE seq = 0 AND NOT EXISTS (SELECT 1 FROM items d WHERE d.text_of = i.id))
			+ (SELECT count(*) FROM items i WHERE seq = 0 AND key <> '')
			+ (SELECT count(*) FROM units WHERE item NOT IN (SELECT id FROM items))
			+ (SELECT count(*) FROM text_parts WHERE item NOT IN (SELECT id FROM items))`) == 0
	})
}

func (f *fixture) long(t *testing.T, ctx context.Context, id string, seed uint64, units int) (store.Put, string, error) {
	t.Helper()
	p, c := storetest.LongDocument(id, seed, units, f.embedder)
	put, err := f.PutDocument(ctx, f.ns, p, "", c)
	return put, c.Text, err
}

func TestLongDocuments(t *testing.T) {
	f := fresh(t)
	first, one, err := f.long(t, t.Context(), "a", 1, 2000)
	if err != nil || first.Status != store.Created || first.Version != 1 || first.Chunks != 2000 {
		t.Fatalf("%+v, %v", first, err)
	}
	if p, _, err := f.long(t, t.Context(), "a", 1, 2000); err != nil || p.Status != store.Unchanged || p.Version != 1 {
		t.Errorf("the same again: %+v, %v", p, err)
	}
	second, two, err := f.long(t, t.Context(), "a", 2, 3000)
	if err != nil || second.Status != store.Replaced || second.Version != 2 {
		t.Fatalf("%+v, %v", second, err)
	}
	for version, want := range map[int]string{0: two, 1: one, 2: two} {
		if _, text, err := f.Document(t.Context(), f.ns, "a", version); err != nil || text != want {
			t.Errorf("version %d differs, %v", version, err)
		}
	}
	b := f.follow(t, f.documents(), 0)
	if len(b.Add) != 5000 || len(b.Ended) != 1 || b.Seq != second.Seq {
		t.Errorf("%d units, %d ended up to %d", len(b.Add), len(b.Ended), b.Seq)
	}
	if b.Add[0].Item.Recorded.IsZero() || b.Add[0].Item.Superseded.Before(b.Add[0].Item.Recorded) {
		t.Errorf("times of the first version: %+v", b.Add[0].Item)
	}
	swept(t, f.path)
}

// The vectors of a long document are made while it is written, and read when a leg is at it.
func TestVectorsOfLongDocuments(t *testing.T) {
	f := fresh(t)
	const units = 5000
	c := storetest.RandomContent(rand.New(rand.NewPCG(1, 1)), units, f.embedder)
	most, made := 0, 0
	c.Embed = func(_ context.Context, some []store.Chunk) error {
		most, made = max(most, len(some)), made+len(some)
		for i := range some {
			some[i].Hash, some[i].Vector = store.VectorKeyOf(some[i].Text), []float32{float32(len(some[i].Text)), 1}
		}
		return nil
	}
	for i := range c.Chunks {
		c.Chunks[i].Hash, c.Chunks[i].Vector = store.VectorKey{}, nil
	}
	p := passage.PreparedDocument{Document: ragctx.Document{ExternalID: "a", Text: c.Text}, Hash: docs.ContentHash(ragctx.Document{Text: c.Text})}
	if put, err := f.PutDocument(t.Context(), f.ns, p, "", c); err != nil || put.Chunks != units {
		t.Fatalf("%+v, %v", put, err)
	}
	if made != units || most > units/2 {
		t.Errorf("%d vectors were made, up to %d at a time", made, most)
	}
	b, err := f.Follow(t.Context(), f.documents(), 0, true, f.embedder)
	if err != nil || len(b.Add) != units || b.Vectors == nil {
		t.Fatalf("%d units, vectors to be asked for: %t, %v", len(b.Add), b.Vectors != nil, err)
	}
	for some := range slices.Chunk(b.Add, 700) {
		if some[0].Vector != nil {
			t.Fatal("the batch has a vector")
		}
		if err := b.Vectors(t.Context(), some); err != nil {
			t.Fatal(err)
		}
		for _, e := range some {
			if len(e.Vector) != 2 || e.Vector[0] != float32(len(e.Text)) {
				t.Fatalf("unit %d has vector %v and a text of %d bytes", e.Ordinal, e.Vector, len(e.Text))
			}
		}
	}
	failed := errors.New("no vectors today")
	c.Embed = func(context.Context, []store.Chunk) error { return failed }
	p.ExternalID = "b"
	if _, err := f.PutDocument(t.Context(), f.ns, p, "", c); !errors.Is(err, failed) {
		t.Errorf("a failed embedder: %v", err)
	}
	swept(t, f.path)
}

func TestCanceledLongDocumentLeavesNothing(t *testing.T) {
	f := fresh(t)
	for i := range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Millisecond)
		_, _, err := f.long(t, ctx, "a", uint64(i), 5000)
		cancel()
		if err == nil {
			t.Skip("this machine is too fast for the test")
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	swept(t, f.path)
	if b := f.follow(t, f.documents(), 0); len(b.Add) != 0 || b.Seq != 0 {
		t.Errorf("%d units up to %d", len(b.Add), b.Seq)
	}
}

// TestCrashWhileStaging takes the files as a killed process would leave them at
// some moment of writing long documents beside turns.
func TestCrashWhileStaging(t *testing.T) {
	f := fresh(t)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() {
		for i := uint64(0); ctx.Err() == nil; i++ {
			if _, _, err := f.long(t, ctx, fmt.Sprint(i%2), i, 1500); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	torn := 0
	for i := range 6 {
		time.Sleep(time.Duration(5*i) * time.Millisecond)
		path := filepath.Join(t.TempDir(), "x.db")
		freeze(t, f, path)
		torn += count(t, path, `SELECT count(*) FROM items WHERE seq = 0`)
		g := open(t, path)
		swept(t, path)
		b := g.follow(t, g.documents(), 0)
		if len(b.Add)%1500 != 0 {
			t.Errorf("%d units of whole documents", len(b.Add))
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d documents were half written", torn)
}

// freeze copies the files of a database that is in use, none of them changing.
func freeze(t *testing.T, f *fixture, to string) {
	t.Helper()
	err := f.Freeze(t.Context(), func() error {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(f.path + suffix)
			if err != nil {
				return err
			}
			if err := os.WriteFile(to+suffix, b, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNextVectorsAreWritten stores a document with vectors of two embedders.
