package docs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/internal/passage"
)

// NearDuplicate is the minimum similarity of near duplicates.
const NearDuplicate = 0.8

// Duplicates is a duplicate group: documents with the same or nearly the same text.
type Duplicates struct {
	// IDs are the ids of the documents, shortest first, ties in lexical order.
	IDs []string `json:"ids"`
	// Similarity is the smallest similarity between the first document and another one, from
	// [NearDuplicate] to 1, as [Similarity] estimates it.
	Similarity float64 `json:"similarity"`
	// Exact says that all documents have the same text.
	Exact bool `json:"exact"`
}

// FindDuplicates returns the duplicate groups, largest first. Each document is in at most one
// group: the group of the first similar document in the order of IDs. It takes nearly linear time,
// because only documents with sketches that agree in a band of four bins are compared. That misses one
// pair in 5,000 at 0.8 similarity and fewer above. If more than maxBand groups share a band, as
// with boilerplate, only the first ones are considered for that band.
func FindDuplicates(all []passage.SketchedDocument) []Duplicates {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b passage.SketchedDocument) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	f := finder{all: all, bands: make(map[band][]int32), exact: make(map[[16]byte]int32)}
	for i := range all {
		f.add(int32(i)) //nolint:gosec // documents of a namespace
	}
	return f.groups()
}

// bandBins is the number of bins in a band. A pair with similarity s shares a band of b bins with
// probability 1-(1-s^b)^(64/b): at b = 4, 0.9998 for s = 0.8.
const (
	bandBins = 4
	maxBand  = 64
)

type band struct {
	n    int
	bins [2 * bandBins]byte
}

// finder assigns documents to groups one by one.
type finder struct {
	all   []passage.SketchedDocument
	bands map[band][]int32   // first documents of groups, by band
	exact map[[16]byte]int32 // first document of each text
	list  [][]int32          // groups of two or more, the first document first
	group map[int32]int      // group of each first document
}

func (f *finder) add(i int32) {
	d := f.all[i]
	if first, ok := f.exact[d.Hash]; ok {
		f.join(first, i)
		return
	}
	f.exact[d.Hash] = i
	if len(d.Sketch) != sketchBytes {
		return
	}
	best, most := int32(-1), 0.0
	for n := range sketchBins / bandBins {
		for _, j := range f.bands[bandOf(d.Sketch, n)] {
			if s := Similarity(d.Sketch, f.all[j].Sketch); s >= NearDuplicate && s > most {
				best, most = j, s
			}
		}
	}
	if best >= 0 {
		f.exact[d.Hash] = best
		f.join(best, i)
		return
	}
	for n := range sketchBins / bandBins {
		if b := bandOf(d.Sketch, n); len(f.bands[b]) < maxBand {
			f.bands[b] = append(f.bands[b], i)
		}
	}
}

func bandOf(sketch []byte, n int) band {
	b := band{n: n}
	copy(b.bins[:], sketch[n*2*bandBins:])
	return b
}

func (f *finder) join(first, i int32) {
	if f.group == nil {
		f.group = make(map[int32]int)
	}
	g, ok := f.group[first]
	if !ok {
		g = len(f.list)
		f.group[first] = g
		f.list = append(f.list, []int32{first})
	}
	f.list[g] = append(f.list[g], i)
}

func (f *finder) groups() []Duplicates {
	out := make([]Duplicates, 0, len(f.list))
	for _, members := range f.list {
		first := f.all[members[0]]
		g := Duplicates{Similarity: 1, Exact: true}
		for _, i := range members {
			d := f.all[i]
			g.IDs = append(g.IDs, d.ID)
			if d.Hash != first.Hash {
				g.Exact = false
				g.Similarity = min(g.Similarity, Similarity(first.Sketch, d.Sketch))
			}
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b Duplicates) int { return len(b.IDs) - len(a.IDs) })
	return out
}
