package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/session"
)

// traces counts how often a token is in the files beside path.
func traces(t *testing.T, path, token string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(bytes.ToLower(b), []byte(strings.ToLower(token)))
	}
	return n
}

// populate writes documents of several versions, each with a token of its own
// everywhere, in no order.
func (f *fixture) populate(t *testing.T, rng *rand.Rand, n int) {
	t.Helper()
	for i := range 3 * n {
		token := fmt.Sprintf("Zq%dXw", i)
		if i >= n {
			token = fmt.Sprintf("Zq%dXw", rng.IntN(n))
		}
		text := strings.Repeat(fmt.Sprintf("Here is %s again. ", token), 1+rng.IntN(100)) + fmt.Sprint(i)
		d := ragctx.Document{
			ExternalID: "doc/" + token, Text: text, Title: "Title " + token, Tags: []string{strings.ToLower(token)},
			Metadata: map[string]any{"k": token}, Source: "from:" + token,
		}
		p, err := docs.Prepare(d, docs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks)); err != nil {
			t.Fatal(err)
		}
		if rng.IntN(5) == 0 {
			if _, err := f.DeleteDocument(t.Context(), f.ns, d.ExternalID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (f *fixture) scrub(t *testing.T, upTo int64) {
	t.Helper()
	pending, err := f.PendingErasures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var done []int64
	for _, p := range pending {
		if p.ID <= upTo {
			done = append(done, p.ID)
		}
	}
	if err := f.SecureErase(t.Context(), done); err != nil {
		t.Fatal(err)
	}
}

func remember(t *testing.T, f *fixture, m ragctx.Memory) store.Status {
	t.Helper()
	if m.Occurred.IsZero() {
		m.Occurred = t0
	}
	_, st, _, err := f.PutMemory(t.Context(), f.ns, m, f.content(m.Content, memory.Chunks(m.Content)), store.Tier{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestErasedDocumentsLeaveNoTrace(t *testing.T) {
	const docs = 40
	f := fresh(t)
	f.populate(t, rand.New(rand.NewPCG(1, 2)), docs)
	var last store.Erased
	for i := 0; i < docs; i += 2 {
		e, err := f.EraseDocument(t.Context(), f.ns, fmt.Sprintf("doc/Zq%dXw", i))
		if err != nil || e.Documents != 1 || e.Versions == 0 {
			t.Fatalf("%+v, %v", e, err)
		}
		last = e
	}
	f.scrub(t, last.Pending)
	for i := range docs {
		token := fmt.Sprintf("Zq%dXw", i)
		if n := traces(t, f.path, token); (n > 0) != (i%2 == 1) {
			t.Errorf("%d traces of %s", n, token)
		}
	}
	for name, q := range map[string]string{
		"units":    `SELECT count(*) FROM units WHERE item NOT IN (SELECT id FROM items)`,
		"vectors":  `SELECT count(*) FROM vectors WHERE hash NOT IN (SELECT hash FROM units)`,
		"missing":  `SELECT count(*) FROM units WHERE hash NOT IN (SELECT hash FROM vectors)`,
		"erasures": `SELECT (SELECT count(*) FROM erasures) + (SELECT count(*) FROM erased_from) + (SELECT count(*) FROM orphans)`,
	} {
		if n := count(t, f.path, q); n != 0 {
			t.Errorf("%s: %d", name, n)
		}
	}
	r, err := f.Verify(t.Context(), store.VerifyOptions{Embedder: f.embedder})
	if err != nil || len(r.Findings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestEraseMemoriesSessionsUsers(t *testing.T) {
	f := fresh(t)
	put := func(id, user, session string) {
		turn := ragctx.Turn{ID: id, UserID: user, SessionID: session, Prompt: "Qx" + id + "Xq", Occurred: t0}
		m, units, _, err := memory.Episode(turn)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := f.PutTurn(t.Context(), f.ns, turn, m, f.content(m.Content, units), false); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"", "zoe", "bob"} {
		for s := range 2 {
			for i := range 3 {
				put(fmt.Sprint(user, "-", s, "-", i), user, fmt.Sprint("s", s))
			}
		}
	}
	remember(t, f, ragctx.Memory{ID: "fact", UserID: "zoe", Content: "one QxfactXq"})
	remember(t, f, ragctx.Memory{ID: "fact", UserID: "zoe", Content: "two QxfactXq"})
	left := func() int { return traces(t, f.path, "Qx") }
	for _, step := range []struct {
		name  string
		erase func() (store.Erased, error)
		want  store.Erased
		gone  []string
	}{
		{
			"a memory of another user", func() (store.Erased, error) { return f.EraseMemory(t.Context(), f.ns, "zoe-0-0", "bob", false) },
			store.Erased{},
			nil,
		},
		{
			"a memory", func() (store.Erased, error) { return f.EraseMemory(t.Context(), f.ns, "zoe-0-0", "zoe", false) },
			store.Erased{Memories: 1, Versions: 1, Turns: 1},
			[]string{"zoe-0-0"},
		},
		{
			"the same again", func() (store.Erased, error) { return f.EraseMemory(t.Context(), f.ns, "zoe-0-0", "zoe", false) },
			store.Erased{},
			nil,
		},
		{
			"a user's session", func() (store.Erased, error) {
				return f.EraseSession(t.Context(), f.ns, "s0", "zoe", false, session.Condition{})
			},
			store.Erased{Memories: 2, Versions: 2, Turns: 2},
			[]string{"zoe-0-1", "zoe-0-2"},
		},
		{
			"a user", func() (store.Erased, error) { return f.EraseUser(t.Context(), f.ns, "zoe") },
			store.Erased{Memories: 4, Versions: 5, Turns: 3},
			[]string{"zoe-1-0", "zoe-1-1", "zoe-1-2", "fact"},
		},
		{
			"everyone's session", func() (store.Erased, error) {
				return f.EraseSession(t.Context(), f.ns, "s1", "", true, session.Condition{})
			},
			store.Erased{Memories: 6, Versions: 6, Turns: 6},
			[]string{"-1-0", "bob-1-2"},
		},
	} {
		e, err := step.erase()
		if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
			t.Fatalf("%s: %v", step.name, err)
		}
		f.scrub(t, e.Pending)
		if e.Pending = 0; e != step.want {
			t.Errorf("%s: %+v, want %+v", step.name, e, step.want)
		}
		for _, id := range step.gone {
			if n := traces(t, f.path, "Qx"+id+"Xq"); n > 0 {
				t.Errorf("%s: %d traces of %s", step.name, n, id)
			}
		}
	}
	if left() == 0 || traces(t, f.path, "zoe") > 0 {
		t.Errorf("%d traces of the others, %d of zoe", left(), traces(t, f.path, "zoe"))
	}
}

// TestErasureResumes takes the files as a crash leaves them when an erasure is
// noted and nothing else of it is done.
func TestErasureResumes(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "a ZqoneXw text", "")
	f.doc(t, "b", "a ZqtwoXw text", "")
	path := filepath.Join(t.TempDir(), "x.db")
	freeze(t, f, path)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO erasures (scope) VALUES (json_object('namespace', 1, 'kind', 1, 'key', 'a',
		'change', (SELECT max(seq) FROM changes)))`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	g := open(t, path)
	g.tampered = true
	g.doc(t, "a", "a later text", "") // is not part of it
	var pending []store.PendingErasure
	eventually(t, "the erasure", func() bool {
		if pending, err = g.PendingErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(pending) == 1
	})
	if len(pending[0].UpTo) != 1 {
		t.Errorf("%+v", pending)
	}
	if _, text, err := g.Document(t.Context(), g.ns, "a", 1); err == nil && strings.Contains(text, "ZqoneXw") {
		t.Errorf("an erased document: %q", text)
	}
	if _, text, err := g.Document(t.Context(), g.ns, "a", 0); err != nil || text != "a later text" {
		t.Errorf("what was written after the erasure was asked for: %q, %v", text, err)
	}
	b := g.follow(t, g.documents(), 0)
	if len(b.Removed) != 1 || b.Seq < pending[0].UpTo[g.documents()] {
		t.Errorf("removed %+v up to %d", b.Removed, b.Seq)
	}
	g.scrub(t, pending[0].ID)
	if one, two := traces(t, path, "ZqoneXw"), traces(t, path, "ZqtwoXw"); one != 0 || two == 0 {
		t.Errorf("%d traces of the one, %d of the other", one, two)
	}
}

// TestEraseKeepsOthersWrites erases a user after another user has taken a memory's id, as was once
// possible, and a session after another session has changed its memory.
func TestEraseKeepsOthersWrites(t *testing.T) {
	f := fresh(t)
	remember(t, f, ragctx.Memory{ID: "x", UserID: "bob", SessionID: "s1", Content: "one QxzoeXq"})
	remember(t, f, ragctx.Memory{ID: "x", UserID: "bob", SessionID: "s1", Content: "two QxbobXq"})
	if err := f.GiveFirst(t.Context(), f.ns, "x", "zoe"); err != nil {
		t.Fatal(err)
	}
	e, err := f.EraseUser(t.Context(), f.ns, "zoe")
	if err != nil || e.Memories != 1 || e.Versions != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	f.scrub(t, e.Pending)
	if zoe, bob := traces(t, f.path, "QxzoeXq"), traces(t, f.path, "QxbobXq"); zoe != 0 || bob == 0 {
		t.Errorf("%d traces of zoe's, %d of bob's", zoe, bob)
	}
	if m, err := f.Memory(t.Context(), f.ns, "x", t0); err != nil || m.Content != "two QxbobXq" || m.Version != 2 {
		t.Errorf("bob's memory: %+v, %v", m, err)
	}
	remember(t, f, ragctx.Memory{ID: "x", UserID: "bob", SessionID: "s2", Content: "three QxtwoXq"})
	if e, err = f.EraseSession(t.Context(), f.ns, "s1", "", true, session.Condition{}); err != nil || e.Memories != 1 || e.Versions != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if m, err := f.Memory(t.Context(), f.ns, "x", t0); err != nil || m.Content != "three QxtwoXq" {
		t.Errorf("what was said in another session: %+v, %v", m, err)
	}
	remember(t, f, ragctx.Memory{ID: "x", UserID: "bob", SessionID: "s3", Content: "four QxthreeXq"})
	if e, err = f.EraseSession(t.Context(), f.ns, "s3", "", true, session.Condition{}); err != nil || e.Versions != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if m, err := f.Memory(t.Context(), f.ns, "x", t0); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("what was replaced is back: %+v, %v", m, err)
	}
	f.scrub(t, e.Pending)
	if two, three := traces(t, f.path, "QxtwoXq"), traces(t, f.path, "QxthreeXq"); two == 0 || three != 0 {
		t.Errorf("%d traces of the second session, %d of the third", two, three)
	}
}
