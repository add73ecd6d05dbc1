package pgvector

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
	"github.com/ragctx/ragctx/index/keyword"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

// schemas numbers the schemas of tests.
var schemas atomic.Int32

// extended returns the URL of a database with pgvector. Without a server that has the extension the test is skipped.
func extended(t *testing.T) string {
	t.Helper()
	_, url := pgtest.Extended(t, "vector")
	return url
}

// newOpener returns an opener with a schema of its own.
func newOpener(t *testing.T, database string) *Opener {
	t.Helper()
	return openerOf(t, fmt.Sprintf("%s&schema=s%d", database, schemas.Add(1)), nil)
}

func openerOf(t *testing.T, url string, follows func() bool) *Opener {
	t.Helper()
	p, err := New(Options{URL: url, Follows: follows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// opening is the collection that a test uses as its directory.
func opening(dir string) index.Opening {
	h := fnv.New64a()
	_, _ = h.Write([]byte(dir))
	return index.Opening{Collection: index.Collection{Namespace: int64(h.Sum64() >> 1), Kind: "documents"}} //nolint:gosec // fits
}

func (p *Opener) words(t *testing.T, dir string) *keywordIndex {
	t.Helper()
	x, err := p.openWords(t.Context(), opening(dir))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (p *Opener) vectors(t *testing.T, dir string, dim int) *vectorIndex {
	t.Helper()
	x, err := p.openVectors(t.Context(), opening(dir), index.Space{Name: "test", Dimensions: dim})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestKeywordIndex(t *testing.T) {
	p := newOpener(t, extended(t))
	indextest.TestKeyword(t, func(t *testing.T, dir string) index.KeywordIndex { return p.words(t, dir) },
		indextest.Neighbours, indextest.Vocabulary)
}

func TestVectorIndex(t *testing.T) {
	p := newOpener(t, extended(t))
	indextest.TestVector(t, func(t *testing.T, dir string) index.VectorIndex { return p.vectors(t, dir, 16) },
		indextest.VectorOptions{MinRecall: 1})
}

// TestVectorGraph has the graph answer the searches of small collections, too.
func TestVectorGraph(t *testing.T) {
	p := newOpener(t, extended(t))
	indextest.TestVector(t, func(t *testing.T, dir string) index.VectorIndex {
		x := p.vectors(t, dir, 16)
		x.scanUpTo = 50
		return x
	}, indextest.VectorOptions{MinRecall: .95, Without: []indextest.Feature{indextest.TieOrder}})
}

func TestEngine(t *testing.T) {
	database := extended(t)
	for name, as := range map[string]func(index.Opener) index.Opener{
		"At once": func(o index.Opener) index.Opener { return o }, "Deferred": indextest.Deferred,
	} {
		t.Run(name, func(t *testing.T) {
			indextest.TestEngine(t, func(t *testing.T) func() index.Opener {
				p := newOpener(t, database)
				return func() index.Opener { return as(p) }
			})
		})
	}
}

// TestNamespaces has the same chunks in two namespaces: neither finds the other's, and dropping one leaves the other.
func TestNamespaces(t *testing.T) {
	p := newOpener(t, extended(t))
	for _, name := range []string{"walrus", "otter"} {
		chunk := index.TextChunk{ID: 1, Item: 1, Text: "the " + name}
		words, vectors := p.words(t, name), p.vectors(t, name, 2)
		vector := []float32{1, float32(len(name))}
		err := cmp.Or(words.Apply(t.Context(), 1, []index.TextChunk{chunk}, nil),
			vectors.Apply(t.Context(), 1, []index.VectorChunk{{ID: 1, Vector: vector}}, nil))
		if err != nil {
			t.Fatal(err)
		}
	}
	finds := func(namespace, text string, want int) {
		t.Helper()
		found, err := p.words(t, namespace).Search(t.Context(), index.KeywordQuery{Text: text, K: 9})
		if err != nil || len(found.Hits) != want {
			t.Errorf("%s finds %v for %s, want %d hits; %v", namespace, found.Hits, text, want, err)
		}
	}
	finds("walrus", "walrus", 1)
	finds("walrus", "otter", 0)
	if err := p.Drop(t.Context(), opening("walrus").Collection); err != nil {
		t.Fatal(err)
	}
	finds("walrus", "walrus", 0)
	finds("otter", "otter", 1)
	if n := p.vectors(t, "walrus", 2).Stats().Chunks + p.vectors(t, "otter", 2).Stats().Chunks; n != 1 {
		t.Errorf("%d vectors remain, want 1", n)
	}
	if bytes, err := p.Size(t.Context()); bytes < 8192 || err != nil {
		t.Errorf("%d bytes, %v", bytes, err)
	}
}

// TestForeign opens what was made of another store, or by other rules: it is deleted.
func TestForeign(t *testing.T) {
	p := newOpener(t, extended(t))
	o := opening("a")
	for _, change := range []func(*index.Opening){
		func(*index.Opening) {},
		func(o *index.Opening) { o.Knows = func(string) bool { return false } },
		func(o *index.Opening) { o.Space.Identity = "other" },
	} {
		change(&o)
		x, err := p.openVectors(t.Context(), o, index.Space{Name: "test", Dimensions: 2, Identity: o.Space.Identity})
		if err != nil || x.Cursor() != 0 || x.Stats().Chunks != 0 {
			t.Fatalf("cursor %d, %d chunks, %v", x.Cursor(), x.Stats().Chunks, err)
		}
		if err := x.Apply(t.Context(), 7, []index.VectorChunk{{ID: 1, Vector: []float32{1, 2}}}, nil); err != nil {
			t.Fatal(err)
		}
		o.Knows = nil
		if x, err = p.openVectors(t.Context(), o, index.Space{Name: "test", Dimensions: 2, Identity: o.Space.Identity}); err != nil || x.Cursor() != 7 {
			t.Fatalf("opened again: cursor %d, %v", x.Cursor(), err)
		}
	}
}

// TestFollows has a process read the index of another one, and write when that is gone: it begins with the changes that were not saved.
func TestFollows(t *testing.T) {
	database := fmt.Sprintf("%s&schema=s%d", extended(t), schemas.Add(1))
	follows := true
	leader, follower := openerOf(t, database, nil), openerOf(t, database, func() bool { return follows })
	space := index.Space{Name: "test", Dimensions: 2}
	if _, err := follower.openVectors(t.Context(), opening("a"), space); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Fatalf("an index that does not exist: %v", err)
	}
	writer := leader.vectors(t, "a", 2)
	put := func(x *vectorIndex, seq uint64) error {
		return x.Apply(t.Context(), seq, []index.VectorChunk{{ID: seq, Vector: []float32{1, float32(seq)}}}, nil)
	}
	if err := put(writer, 1); err != nil {
		t.Fatal(err)
	}
	reader := follower.vectors(t, "a", 2)
	if reader.Cursor() != 1 {
		t.Fatalf("cursor %d", reader.Cursor())
	}
	if err := errors.Join(put(writer, 2), put(reader, 2), put(reader, 3), reader.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	q := index.VectorQuery{Vector: []float32{1, 2}, K: 5}
	near, err := reader.Search(t.Context(), q)
	if !errors.Is(err, index.ErrBehind) || len(near) != 2 || near[0].ID != 2 {
		t.Fatalf("the reader lacks a change, and finds %v, %v", near, err)
	}
	if err := follower.KeepSpace(t.Context(), "other"); err != nil || reader.Stats().Chunks != 2 {
		t.Fatalf("the reader has deleted vectors, %v", err)
	}
	follows = false
	_, err = reader.Search(t.Context(), q)
	if flush := reader.Flush(t.Context()); !errors.Is(err, errTaken) || !errors.Is(flush, errTaken) {
		t.Fatalf("nobody feeds what the other process had not saved: %v, %v", err, flush)
	}
	if err := put(reader, 4); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Fatalf("the first change that it writes itself: %v", err)
	}
	reader = follower.vectors(t, "a", 2)
	for seq := reader.Cursor() + 1; seq <= 4; seq++ {
		if err := put(reader, seq); err != nil {
			t.Fatal(err)
		}
	}
	if n := reader.Stats().Chunks; n != 4 {
		t.Errorf("%d chunks", n)
	}
	// The other process has not noticed yet that it was replaced.
	if err := put(writer, 3); !errors.Is(err, ragctx.ErrUnavailable) || writer.Cursor() != 2 {
		t.Errorf("a replaced writer: %v, cursor %d", err, writer.Cursor())
	}
}

// TestBehind has a process read the index of another one. It is behind exactly while the index lacks a change: of a long text, whose
// vectors come in parts before the change counts, and of no chunk at all.
func TestBehind(t *testing.T) {
	database := fmt.Sprintf("%s&schema=s%d", extended(t), schemas.Add(1))
	writer := openerOf(t, database, nil).vectors(t, "a", 2)
	reader := openerOf(t, database, func() bool { return true }).vectors(t, "a", 2)
	changes := []struct {
		seq uint64
		ids []uint64
	}{{1, []uint64{1}}, {1, []uint64{2, 3}}, {1, []uint64{4}}, {2, nil}, {3, nil}}
	apply := func(x *vectorIndex, i int) {
		t.Helper()
		var chunks []index.VectorChunk
		for _, id := range changes[i].ids {
			chunks = append(chunks, index.VectorChunk{ID: id, Vector: []float32{1, float32(id)}})
		}
		if err := x.Apply(t.Context(), changes[i].seq, chunks, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, change := range [][]int{{0}, {1, 2, 3}, {4}} {
		for _, i := range change {
			apply(reader, i)
		}
		for _, i := range change {
			if _, err := reader.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 2}, K: 5}); !errors.Is(err, index.ErrBehind) {
				t.Errorf("before step %d of the other process: %v", i, err)
			}
			apply(writer, i)
		}
		near, err := reader.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 2}, K: 5})
		if want := min(4, 1+3*change[0]); err != nil || len(near) != want {
			t.Errorf("after the steps %v: %d chunks, want %d; %v", change, len(near), want, err)
		}
	}
}

// TestReplaced has another process make the indexes anew. This one does not answer from its old numbers.
func TestReplaced(t *testing.T) {
	p := newOpener(t, extended(t))
	words, vectors := p.words(t, "a"), p.vectors(t, "a", 2)
	fill := func(words *keywordIndex, vectors *vectorIndex) error {
		return cmp.Or(words.Apply(t.Context(), 1, []index.TextChunk{{ID: 1, Item: 1, Text: "walrus"}}, nil),
			vectors.Apply(t.Context(), 1, []index.VectorChunk{{ID: 1, Vector: []float32{1, 2}}}, nil))
	}
	search := func(text string) (err error) {
		_, err = words.Search(t.Context(), index.KeywordQuery{Text: text, K: 1})
		return err
	}
	if err := cmp.Or(fill(words, vectors), search("walrus"), p.Drop(t.Context(), opening("a").Collection)); err != nil {
		t.Fatal(err)
	}
	if err := fill(p.words(t, "a"), p.vectors(t, "a", 2)); err != nil {
		t.Fatal(err)
	}
	_, holding := words.Holding(t.Context(), []string{"walrus"})
	_, near := vectors.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 2}, K: 1})
	for i, err := range []error{search("walrus"), search("otter"), holding, near} {
		if !errors.Is(err, errTaken) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestFailedSearch has a search fail: the number of chunks stays.
func TestFailedSearch(t *testing.T) {
	x := newOpener(t, extended(t)).words(t, "a")
	search := func() (err error) {
		_, err = x.Search(t.Context(), index.KeywordQuery{Text: "walrus", K: 1})
		return err
	}
	if err := cmp.Or(x.Apply(t.Context(), 1, []index.TextChunk{{ID: 1, Item: 1, Text: "walrus"}}, nil), search()); err != nil {
		t.Fatal(err)
	}
	if _, err := x.pool.Exec(t.Context(), "ALTER TABLE words RENAME TO gone"); err != nil {
		t.Fatal(err)
	}
	indextest.TestOneFails(t, x)
	if err := search(); err == nil || x.chunks.Load() != 1 {
		t.Errorf("%v, %d chunks", err, x.chunks.Load())
	}
}

// TestSearchBesideWrites has more writes than connections wait for a lock of a table, such as while its index is built again. Searches go on.
func TestSearchBesideWrites(t *testing.T) {
	p := newOpener(t, extended(t))
	var all []*vectorIndex
	for i := range 2 * maxConnections {
		all = append(all, p.vectors(t, fmt.Sprint(i), 2))
	}
	c, err := pgx.ConnectConfig(t.Context(), p.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), "BEGIN; LOCK TABLE "+quoted(all[0].table)+" IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	var writes sync.WaitGroup
	for _, x := range all {
		writes.Go(func() {
			if err := x.Apply(t.Context(), 1, []index.VectorChunk{{ID: 1, Vector: []float32{1, 2}}}, nil); err != nil {
				t.Errorf("a write that waited: %v", err)
			}
		})
	}
	for waiting := 0; waiting < maxWrites; {
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range all[:3] {
		if _, err := x.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 2}, K: 5}); err != nil {
			t.Errorf("a search beside writes: %v", err)
		}
	}
	if _, err := c.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Error(err)
	}
	writes.Wait()
}

// TestDropDuringWrite drops a collection while a transaction writes to it: it leaves no rows.
func TestDropDuringWrite(t *testing.T) {
	p := newOpener(t, extended(t))
	x := p.vectors(t, "a", 2)
	dropped := make(chan error, 1)
	err := pgx.BeginFunc(t.Context(), p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE collections SET seq = 1 WHERE id = $1", x.id); err != nil {
			return err
		}
		go func() { dropped <- p.Drop(t.Context(), opening("a").Collection) }()
		for waits := false; !waits; {
			err := p.pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)").Scan(&waits)
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(t.Context(), "INSERT INTO "+quoted(x.table)+" VALUES ($1, 1, '[1,2]')", x.id)
		return err
	})
	if err := cmp.Or(err, <-dropped); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := p.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+quoted(x.table)).Scan(&n); n != 0 || err != nil {
		t.Errorf("%d rows remain, %v", n, err)
	}
}

// TestForeignTables has tables of another program in a schema. One that comes later is left alone.
func TestForeignTables(t *testing.T) {
	p := newOpener(t, extended(t))
	run := func(statement string) {
		t.Helper()
		if _, err := p.pool.Exec(t.Context(), fmt.Sprintf(statement, p.schema)); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE SCHEMA %[1]s CREATE TABLE vectors_backup (id int)")
	if _, err := p.openWords(t.Context(), opening("a")); !errors.Is(err, ragctx.ErrInvalid) {
		t.Fatalf("a schema of another program: %v", err)
	}
	run("DROP TABLE %s.vectors_backup")
	p.words(t, "a")
	run("CREATE TABLE %s.vectors_backup (id int)")
	if err := cmp.Or(p.Drop(t.Context(), opening("a").Collection), p.KeepSpace(t.Context(), "other")); err != nil {
		t.Fatal(err)
	}
	run("DROP TABLE %s.vectors_backup")
}

// TestOldExtension has an extension that is too old.
func TestOldExtension(t *testing.T) {
	p := newOpener(t, extended(t))
	if _, err := p.pool.Exec(t.Context(), "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.openWords(t.Context(), opening("a")); !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), "0.7.4") {
		t.Errorf("an old extension: %v", err)
	}
}

// TestExtensionSchema has the schema of the indexes before the extension, which does not come into it.
func TestExtensionSchema(t *testing.T) {
	s, _ := pgtest.Extended(t, "vector")
	p := openerOf(t, s.Database(t, "plain"), nil)
	run := func(statement string) {
		t.Helper()
		if _, err := p.pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE SCHEMA ragctx_index")
	p.vectors(t, "a", 2)
	run("DROP SCHEMA ragctx_index CASCADE; CREATE SCHEMA odd; ALTER EXTENSION vector SET SCHEMA odd")
	p.known = make(map[string]bool)
	_, err := p.openVectors(t.Context(), opening("a"), index.Space{Name: "test", Dimensions: 2})
	if !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), "ALTER EXTENSION vector SET SCHEMA public") {
		t.Errorf("an extension that is not found: %v", err)
	}
}

// TestLongQuery searches for very many words at once.
func TestLongQuery(t *testing.T) {
	x := newOpener(t, extended(t)).words(t, "a")
	var text strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&text, "word%d ", i)
	}
	if err := x.Apply(t.Context(), 1, []index.TextChunk{{ID: 1, Item: 1, Text: text.String()}}, nil); err != nil {
		t.Fatal(err)
	}
	found, err := x.Search(t.Context(), index.KeywordQuery{Text: text.String(), K: 1})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("%v, %v", found.Hits, err)
	}
	features := featuresOf(&index.KeywordQuery{Text: text.String()})
	for i := range features {
		features[i].Chunks = 1
	}
	if n := len(features); n != maxCounted {
		t.Errorf("%d features are counted", n)
	}
	if n := len(shortened(features, 1)); n != maxScored {
		t.Errorf("%d features are scored", n)
	}
}

// TestRights opens an index with a role that may not make what it needs. The errors name the remedies, which then work.
func TestRights(t *testing.T) {
	s, _ := pgtest.Extended(t, "vector")
	database := s.Database(t, "plain")
	admin, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	run := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE ROLE poor LOGIN")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("poor")
	p := openerOf(t, u.String(), nil)
	for _, remedy := range []string{"CREATE EXTENSION vector", `CREATE SCHEMA "ragctx_index" AUTHORIZATION "poor"`} {
		_, err := p.openWords(t.Context(), opening("a"))
		if !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), remedy) {
			t.Fatalf("%v does not name %s", err, remedy)
		}
		run(remedy)
	}
	x := p.words(t, "a")
	if err := x.Apply(t.Context(), 1, []index.TextChunk{{ID: 1, Item: 1, Text: "walrus"}}, nil); err != nil {
		t.Fatal(err)
	}
	run("DROP SCHEMA ragctx_index CASCADE")
	if _, err := x.Search(t.Context(), index.KeywordQuery{Text: "walrus", K: 1}); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("without the schema: %v", err)
	}
	run("CREATE SCHEMA ragctx_index AUTHORIZATION poor")
	if x = p.words(t, "a"); x.Cursor() != 0 {
		t.Errorf("a new schema has the cursor %d", x.Cursor())
	}
}

// TestTables makes the tables in any supported server, with or without pgvector, and counts positions.
func TestTables(t *testing.T) {
	c, err := pgx.Connect(t.Context(), pgtest.Start(t, false).Database(t, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), tables); err != nil {
		t.Fatal(err)
	}
	vector := "'walrus':1A"
	for n := 1; n <= keyword.MaxFrequency; n++ {
		var got int
		err := c.QueryRow(t.Context(), "SELECT frequency($1::text::tsvector, 'walrus')", vector+" 'other':7").Scan(&got)
		if got != n || err != nil {
			t.Errorf("%s has %d positions, %v", vector, got, err)
		}
		vector += fmt.Sprint(",", n+1)
	}
}

// TestFewCandidates searches with so few candidates that only the rarer words choose them. The best chunks are the same.
func TestFewCandidates(t *testing.T) {
	x := newOpener(t, extended(t)).words(t, "a")
	var chunks []index.TextChunk
	for i := range uint64(200) {
		text := fmt.Sprint("common things number ", i)
		if i%20 == 3 {
			text += " with walrus"
		}
		chunks = append(chunks, index.TextChunk{ID: i, Item: i + 1, Text: text})
	}
	if err := x.Apply(t.Context(), 1, chunks, nil); err != nil {
		t.Fatal(err)
	}
	var hits [2][]index.Scored
	for i, most := range []int{candidates, 20} {
		x.candidatesUpTo = most
		found, err := x.Search(t.Context(), index.KeywordQuery{Text: "common walrus", K: 10})
		if err != nil {
			t.Fatal(err)
		}
		hits[i] = found.Hits
	}
	if len(hits[0]) != 10 || !slices.Equal(hits[0], hits[1]) {
		t.Errorf("few candidates find %v, want %v", hits[1], hits[0])
	}
}

// TestCommonFeatures asks for the frequency of a word that the server does not count: its statistics say it.
func TestCommonFeatures(t *testing.T) {
	x := newOpener(t, extended(t)).words(t, "a")
	const n = 6_000
	chunks := make([]index.TextChunk, n)
	for i := range chunks {
		chunks[i] = index.TextChunk{ID: uint64(i), Item: uint64(i/2) + 1, Text: "sea"} //nolint:gosec // small
	}
	if err := x.Apply(t.Context(), 1, chunks, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []frequency{{5000, 2500}, {n, n / 2}} {
		x.freqs = keyword.Frequencies[frequency]{}
		f := featuresOf(&index.KeywordQuery{Text: "sea"})
		if err := x.countFeatures(t.Context(), f); err != nil || f[0].frequency != want {
			t.Errorf("%+v, want %+v; %v", f[0].frequency, want, err)
		}
		if _, err := x.pool.Exec(t.Context(), "ANALYZE words"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChoose(t *testing.T) {
	features := featuresOf(&index.KeywordQuery{Text: "common storm"})
	for i := range features {
		f := &features[i]
		switch {
		case f.Text == "common":
			f.Chunks = 900
		case slices.Contains(f.Of, "storm"):
			f.Chunks = 2
		case len(f.Of) > 0:
			f.Chunks = 50
		case f.Text == "storm":
			f.Chunks = 3
		}
	}
	texts := func(most int) (all []string, complete bool) {
		chosen, complete := choose(features, most, 1000)
		for _, i := range chosen {
			all = append(all, features[i].Text)
		}
		return all, complete
	}
	if few, complete := texts(20); complete || !slices.Contains(few, "storm") || slices.Contains(few, "common") {
		t.Errorf("few: %q", few)
	}
	if all, complete := texts(5000); !complete || !slices.Contains(all, "common") {
		t.Errorf("all: %q", all)
	}
}

func TestCheck(t *testing.T) {
	for raw, ok := range map[string]bool{
		"postgres://me@a/x": true, "postgresql://a:1/x?schema=team_1": true, "postgres://a/x?schema=A": false, "mysql://a/x": false,
		"postgres://a/x?sslmode=odd": false, "postgres://a/x?schema=public": false, "postgres://a/x?pool_max_conns=4": false,
	} {
		if err := Check(raw); (err == nil) != ok || err != nil && !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestAway(t *testing.T) {
	indextest.TestAway(t, func(t *testing.T, address string) index.Opener {
		return openerOf(t, "postgres://ragctx@"+address+"/ragctx?sslmode=disable", nil)
	})
}

// TestErrors distinguishes errors of the server and of one collection by their codes.
func TestErrors(t *testing.T) {
	for code, away := range map[string]bool{
		"57P01": true, "57P03": true, "53300": true, "53100": true, "08006": true, "25006": true, "": false,
		"XX001": false, "XX002": false, "42P01": false, "42501": false, "58P01": false, "55P03": false, "22P02": false, "40P01": false,
	} {
		err := wrap(t.Context(), wrap(t.Context(), fmt.Errorf("scan: %w", &pgconn.PgError{Code: code})))
		if errors.Is(err, index.ErrAway) != away || !errors.Is(err, ragctx.ErrUnavailable) {
			t.Errorf("%s: %v", code, err)
		}
	}
	if errors.Is(wrap(t.Context(), errTaken), index.ErrAway) {
		t.Error("an index that another process has written to is one")
	}
}
