package docs

import (
	"cmp"
	"slices"
	"strings"
)

// NearDuplicate is the similarity from which texts count as near duplicates.
const NearDuplicate = 0.8

// Sketched is a document of which copies are looked for.
type Sketched struct {
	ID   string
	Hash [16]byte // of the text; equal texts have equal hashes
	// Sketch is that of the text; nil compares by Hash only.
	Sketch []byte
}

// Duplicates are documents that say the same, or nearly the same.
type Duplicates struct {
	// IDs are those of the documents, the shortest first, equal ones by their order.
	IDs []string `json:"ids"`
	// Similarity is the smallest between the first document and another, from
	// [NearDuplicate] to 1, as [Similarity] estimates it.
	Similarity float64 `json:"similarity"`
	// Exact says that all have the same text.
	Exact bool `json:"exact"`
}

// FindDuplicates returns groups of documents that say the same or nearly the same,
// the largest first. Each document is in one group at most: that of the first
// document, in the order of ids by length, that it is similar enough to. The time is
// near linear in the number of documents: only those are compared whose sketches
// agree in a band of four bins, which misses one pair in 5,000 at 0.8 similarity and
// fewer above. Where more than maxBand groups share a band, which boilerplate does,
// only the first ones are looked at by it.
func FindDuplicates(all []Sketched) []Duplicates {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Sketched) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	f := finder{all: all, bands: make(map[band][]int32), exact: make(map[[16]byte]int32)}
	for i := range all {
		f.add(int32(i)) //nolint:gosec // documents of a namespace
	}
	return f.groups()
}

// bandBins is how many bins a band has. A pair of similarity s shares a band of b
// bins with probability 1-(1-s^b)^(64/b): at b = 4, 0.9998 for s = 0.8.
const (
	bandBins = 4
	maxBand  = 64
)

type band struct {
	n    int
	bins [2 * bandBins]byte
}

// finder puts documents into groups, one after the other.
type finder struct {
	all   []Sketched
	bands map[band][]int32   // the first documents of groups, by each band
	exact map[[16]byte]int32 // the first document of each text
	list  [][]int32          // groups of two and more, the first document first
	group map[int32]int      // of the first document
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
