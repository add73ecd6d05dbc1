package weaviate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
)

// server names the cluster that tests use. tools/cluster/run.sh starts one.
const server = "RAGCTX_TEST_WEAVIATE"

// opener returns an opener for the test cluster whose classes are deleted after the test.
func opener(t *testing.T) *Opener {
	t.Helper()
	url := os.Getenv(server)
	if url == "" {
		t.Skipf("no Weaviate server: %s is not set; tools/cluster/run.sh starts one", server)
	}
	p, err := New(Options{URL: fmt.Sprintf("%s/T%dx%d", url, os.Getpid(), time.Now().UnixNano())})
	if err != nil {
		t.Fatal(err)
	}
	p.client.slack = time.Minute
	t.Cleanup(func() {
		names, err := p.classes(context.Background())
		for _, name := range names {
			err = cmp.Or(err, p.do(context.Background(), writeTime, "DELETE", "/schema/"+name, nil, nil))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return p
}

// namespaceOf is the namespace that a test uses as its directory.
func namespaceOf(dir string) index.Collection {
	h := fnv.New64a()
	_, _ = h.Write([]byte(dir))
	return index.Collection{Namespace: int64(h.Sum64() >> 1), Kind: "documents"} //nolint:gosec // fits
}

func (p *Opener) test(dir, class string) tenant {
	return tenant{client: p.client, class: class, name: tenantName(namespaceOf(dir)), origin: func() string { return "" }, follows: p.follows}
}

func known(string) bool { return true }

func TestKeywordIndex(t *testing.T) {
	p := opener(t)
	indextest.TestKeyword(t, func(t *testing.T, dir string) index.KeywordIndex {
		x := &keywordIndex{tenant: p.test(dir, p.wordClass("documents"))}
		if err := p.openTenant(t.Context(), &x.tenant, words(), known); err != nil {
			t.Fatal(err)
		}
		return x
	}, indextest.Scores, indextest.Neighbours, indextest.GroupScores, indextest.Vocabulary, indextest.TieOrder, indextest.WholeBatches)
}

func TestVectorIndex(t *testing.T) {
	p := opener(t)
	indextest.TestVector(t, func(t *testing.T, dir string) index.VectorIndex {
		x := &vectorIndex{tenant: p.test(dir, p.vectorClass("documents", "16")), dim: 16}
		if err := p.openTenant(t.Context(), &x.tenant, vectors(), known); err != nil {
			t.Fatal(err)
		}
		return x
	}, indextest.VectorOptions{MinRecall: .95, Without: []indextest.Feature{indextest.TieOrder, indextest.WholeBatches}})
}

func TestEngine(t *testing.T) {
	for name, as := range map[string]func(index.Opener) index.Opener{
		"At once": func(o index.Opener) index.Opener { return o }, "Deferred": indextest.Deferred,
	} {
		t.Run(name, func(t *testing.T) {
			indextest.TestEngine(t, func(t *testing.T) func() index.Opener {
				p := opener(t)
				return func() index.Opener { return as(p) }
			})
		})
	}
}

// TestFailed has another process delete the tenant of an index.
func TestFailed(t *testing.T) {
	p := opener(t)
	x := &keywordIndex{tenant: p.test(t.TempDir(), p.wordClass("documents"))}
	err := cmp.Or(p.openTenant(t.Context(), &x.tenant, words(), known),
		p.do(t.Context(), writeTime, "DELETE", "/schema/"+x.class+"/tenants", []string{x.name}, nil))
	if err != nil {
		t.Fatal(err)
	}
	indextest.TestOneFails(t, x)
}

// TestFollows has a process read the index of another one, and write when that is gone: it begins with the changes that were not saved.
func TestFollows(t *testing.T) {
	p := opener(t)
	dir := t.TempDir()
	follows := true
	open := func(follows func() bool) (*vectorIndex, error) {
		x := &vectorIndex{tenant: p.test(dir, p.vectorClass("documents", "2")), dim: 2}
		x.follows = follows
		return x, p.openTenant(t.Context(), &x.tenant, vectors(), known)
	}
	if _, err := open(func() bool { return true }); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Fatalf("an index that does not exist: %v", err)
	}
	writer, err := open(func() bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	put := func(x *vectorIndex, seq uint64) error {
		return x.Apply(t.Context(), seq, []index.VectorChunk{{ID: seq, Vector: []float32{1, float32(seq)}}}, nil)
	}
	if err := errors.Join(put(writer, 1), writer.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	reader, err := open(func() bool { return follows })
	if err != nil || reader.Cursor() != 1 {
		t.Fatalf("cursor %d, %v", reader.Cursor(), err)
	}
	if err := errors.Join(put(writer, 2), put(reader, 2), put(reader, 3), reader.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	near, err := reader.Search(t.Context(), index.VectorQuery{Vector: []float32{1, 2}, K: 5})
	if err != nil || len(near) != 2 || near[0].ID != 2 {
		t.Fatalf("the reader finds %v, %v", near, err)
	}
	follower := &Opener{client: p.client, prefix: p.prefix, follows: func() bool { return true }}
	if err := follower.KeepSpace(t.Context(), "other"); err != nil || reader.Stats().Chunks != 2 {
		t.Fatalf("the reader has deleted vectors, %v", err)
	}
	follows = false
	if err := put(reader, 4); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Fatalf("the first change that it writes itself: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if reader, err = open(func() bool { return false }); err != nil || reader.Cursor() > 2 {
		t.Fatalf("cursor %d, %v", reader.Cursor(), err)
	}
	for seq := reader.Cursor() + 1; seq <= 4; seq++ {
		if err := put(reader, seq); err != nil {
			t.Fatal(err)
		}
	}
	if n := reader.Stats().Chunks; n != 4 {
		t.Errorf("%d chunks", n)
	}
}
