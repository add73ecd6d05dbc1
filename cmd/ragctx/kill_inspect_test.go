//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// inspection looks at what a killed server left.
type inspection struct {
	*killer

	eng  *engine.Engine
	rand *rand.Rand
}

// await lets the jobs go on that were cut off, until they have ended.
func (in *inspection) await() {
	ctx := context.Background()
	jobs, err := in.eng.Jobs().List(ctx, store.JobFilter{Limit: engine.MaxPage})
	if err != nil {
		in.Fatalf("round %d: %v", in.round, err)
	}
	for _, j := range jobs {
		ended, err := in.eng.Jobs().Await(ctx, j.ID)
		if err != nil || ended.State != store.JobDone || ended.Counts.Failed > 0 {
			in.Errorf("round %d: a job ended as %+v, %v", in.round, ended, err)
		}
	}
}

// group wants all of a bulk request to be there, or nothing.
func (in *inspection) group(r *record) {
	there := 0
	for _, of := range r.group {
		if of.known != nil {
			there++
		}
	}
	if there != 0 && there != len(r.group) {
		in.Errorf("round %d: of a bulk request of %d documents %d are there", in.round, len(r.group), there)
	}
}

// record compares one document or memory with what was acknowledged, and
// settles what became of a write that was cut off.
func (in *inspection) record(c *killClient, r *record) {
	text, version, there := in.read(c, r)
	if r.doubt = r.doubt || r.cut && r.erase; r.doubt {
		if there && (r.known == nil || text != r.known.text) {
			in.Errorf("round %d: %s is neither what it was nor erased", in.round, r.id)
		}
		return
	}
	got := r.known
	switch {
	case r.cut && r.next != nil && there && text == r.next.text, r.cut && r.next == nil && !there:
		got = r.next
		in.total.flyingDone.Add(1)
	case r.known == nil && !there, r.known != nil && there && text == r.known.text:
	default:
		in.Errorf("round %d: %s was acknowledged: %v; a write was cut off: %v; now it is there: %v, with %d bytes",
			in.round, r.id, r.known != nil, r.cut, there, len(text))
		return
	}
	if r.cut && got == r.next {
		r.settle()
	}
	fresh := r.idle == 0
	r.cut, r.next = false, nil
	r.idle++
	if !fresh && in.rand.IntN(10) > 0 {
		return // seen whole before
	}
	if r.known != nil {
		in.units(c, r, version)
		for _, i := range spread(len(r.known.parts), in.rand) {
			in.find(c, r, version, i)
		}
	}
	in.gone(c, r, version)
}

// read returns the text that is current.
func (in *inspection) read(c *killClient, r *record) (text string, version int, there bool) {
	ctx := context.Background()
	var err error
	if r.kind == store.KindDocuments {
		var d store.Document
		d, text, err = in.eng.Documents().Get(ctx, c.namespace(), r.id, 0)
		version = d.Version
	} else {
		m, merr := in.eng.Memories().Get(ctx, c.namespace(), r.id, "", true)
		text, version, err = m.Content, m.Version, merr
	}
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
		in.Fatalf("round %d: %s: %v", in.round, r.id, err)
	}
	return text, version, err == nil
}

// units wants all chunks of a document.
func (in *inspection) units(c *killClient, r *record, version int) {
	if r.kind != store.KindDocuments {
		return
	}
	units, err := in.eng.Documents().Chunks(context.Background(), c.namespace(), r.id, version)
	if err != nil || len(units) != len(r.known.parts) {
		in.Errorf("round %d: %s@%d has %d chunks, want %d: %v", in.round, r.id, version, len(units), len(r.known.parts), err)
		return
	}
	for i, u := range units {
		if u.Ordinal != i || u.Text != r.known.parts[i].text {
			in.Errorf("round %d: %s@%d#%d is %q, want %q", in.round, r.id, version, i, u.Text, r.known.parts[i].text)
		}
	}
}

// spread returns the first, the last and some other number below n.
func spread(n int, r *rand.Rand) []int {
	return slices.Compact(slices.Sorted(slices.Values([]int{0, r.IntN(n), n - 1})))
}

// find asks each leg alone for one part.
func (in *inspection) find(c *killClient, r *record, version, i int) {
	p := r.known.parts[i]
	for leg, text := range map[string]string{"keyword": p.token, "vector": p.embedded} {
		hits := in.hits(c, r.kind, leg, text)
		found := slices.ContainsFunc(hits, func(h engine.Hit) bool {
			return h.Key == r.id && h.Version == version && h.Ordinal == i && (leg == "keyword" || h.Score > .9999)
		})
		if !found {
			in.Errorf("round %d: the %s leg does not find %s@%d#%d by %q, but %+v", in.round, leg, r.id, version, i, text, hits)
		}
	}
}

// gone wants nothing but the current version of r to be found by what it was before.
func (in *inspection) gone(c *killClient, r *record, version int) {
	if r.old == nil {
		return
	}
	p := r.old.parts[in.rand.IntN(len(r.old.parts))]
	for leg, text := range map[string]string{"keyword": p.token, "vector": p.embedded} {
		for _, h := range in.hits(c, r.kind, leg, text) {
			if h.Key == r.id && (r.known == nil || h.Version != version) {
				in.Errorf("round %d: the %s leg finds %s@%d, which is gone", in.round, leg, r.id, h.Version)
			}
		}
	}
}

// hits asks one leg, and waits for it while it is rebuilt.
func (in *inspection) hits(c *killClient, kind store.Kind, leg, text string) []engine.Hit {
	q := ragctx.NewQuery(text)
	q.Namespace = c.namespace()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		hits, degraded, err := in.eng.Indexes().Hits(context.Background(), q, engine.HitsOptions{Kind: kind, K: 10, Ranking: index.Ranking{Method: leg}})
		if err != nil {
			in.Fatalf("round %d: %v", in.round, err)
		}
		if len(degraded) == 0 {
			return hits
		}
		if time.Now().After(end) {
			in.Fatalf("round %d: still degraded after %v: %v", in.round, patience, degraded)
		}
	}
}

// counts compares the number of things: what nobody wrote is not there either.
func (in *inspection) counts() {
	type number struct{ sure, doubt int }
	want := make(map[string]map[store.Kind]number)
	for _, c := range in.clients {
		of := want[c.namespace()]
		if of == nil {
			of = make(map[store.Kind]number)
			want[c.namespace()] = of
		}
		for _, r := range c.records {
			n := of[r.kind]
			switch {
			case r.doubt:
				n.doubt++
			case r.known != nil:
				n.sure++
			}
			of[r.kind] = n
		}
	}
	for name, of := range want {
		got, err := in.eng.Admin().Stats(context.Background(), name)
		if err != nil {
			in.Fatalf("round %d: %v", in.round, err)
		}
		for kind, n := range map[store.Kind]int{store.KindDocuments: got.Documents, store.KindMemories: got.Memories} {
			if n < of[kind].sure || n > of[kind].sure+of[kind].doubt {
				in.Errorf("round %d: %s holds %d %v, want %+v", in.round, name, n, kind, of[kind])
			}
		}
	}
}

// noBytes looks in the files for what was erased.
func (k *killer) noBytes() {
	var words []string
	for _, c := range k.clients {
		words, c.erased = append(words, c.erased...), nil
	}
	if len(words) == 0 {
		return
	}
	err := filepath.WalkDir(k.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, w := range words {
			if bytes.Contains(b, []byte(w)) {
				k.Errorf("round %d: %s was erased, and is in %s", k.round, w, path)
			}
		}
		return err
	})
	if err != nil {
		k.Fatal(err)
	}
}
