package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Shape of the generated vectors. Embeddings of texts lie in groups of topics, and
// within a topic they vary in some tens of directions, in some much more than in
// others; sizes of topics differ by orders. The figures were set so that hnswlib
// needs about the ef for a recall of .95 that it needs on embeddings of sentences
// by all-MiniLM-L6-v2.
const (
	clusters   = 1000
	topics     = 40
	directions = 48   // per cluster
	ownShare   = .8   // of a cluster's centre against that of its topic
	spread     = 1.3  // length of what a vector has along its cluster's directions
	noise      = .7   // length of what it has in all directions
	queryNoise = 1.2  // the same for queries, which are written otherwise than texts
	blend      = .9   // the most that a vector has of a second cluster
	zipf       = 1.0  // sizes of clusters fall with rank to this power
	decay      = -.35 // deviations along directions fall with rank to this power
)

// clustered draws vectors around the centres of clusters. Equal seeds draw equal
// vectors on all machines that round alike.
type clustered struct {
	dim     int
	r       *rand.Rand
	centres [][]float32
	bases   [][][]float32
	upTo    []float64 // cumulated shares of the clusters
}

func newClustered(dim int, seed uint64) *clustered {
	c := &clustered{dim: dim, r: rand.New(rand.NewPCG(seed, 7))}
	tops := make([][]float32, topics)
	for i := range tops {
		tops[i] = c.gauss(1)
	}
	var total float64
	for i := range clusters {
		centre := c.gauss(ownShare)
		add(centre, tops[c.r.IntN(topics)], 1)
		c.centres = append(c.centres, centre)
		c.bases = append(c.bases, c.basis())
		total += math.Pow(float64(i+1), -zipf)
		c.upTo = append(c.upTo, total)
	}
	return c
}

// gauss returns a vector of about the given length in a random direction.
func (c *clustered) gauss(length float64) []float32 {
	v := make([]float32, c.dim)
	scale := length / math.Sqrt(float64(c.dim))
	for i := range v {
		v[i] = float32(c.r.NormFloat64() * scale)
	}
	return v
}

// basis returns the directions of a cluster, as long as the vectors deviate there.
func (c *clustered) basis() [][]float32 {
	var squares float64
	for i := range directions {
		squares += math.Pow(float64(i+1), 2*decay)
	}
	rows := make([][]float32, directions)
	for i := range rows {
		rows[i] = c.gauss(spread * math.Pow(float64(i+1), decay) / math.Sqrt(squares))
	}
	return rows
}

// next returns a vector of a random cluster, with something of another one.
func (c *clustered) next(noise float64) []float32 {
	v := c.gauss(noise)
	k := c.pick()
	add(v, c.centres[k], 1)
	for _, b := range c.bases[k] {
		add(v, b, float32(c.r.NormFloat64()))
	}
	add(v, c.centres[c.pick()], float32(blend*c.r.Float64()))
	return v
}

func (c *clustered) pick() int {
	at := c.r.Float64() * c.upTo[clusters-1]
	k, _ := slices.BinarySearch(c.upTo, at)
	return k
}

func add(v, w []float32, weight float32) {
	w = w[:len(v)]
	for i := range v {
		v[i] += w[i] * weight
	}
}

// writeClustered writes n vectors and some queries from the same clusters.
func writeClustered(base, queries string, n, nq, dim int, seed uint64) error {
	c := newClustered(dim, seed)
	for _, part := range []struct {
		path  string
		n     int
		noise float64
	}{{queries, nq, queryNoise}, {base, n, noise}} {
		w, err := createFvecs(part.path)
		if err != nil {
			return err
		}
		for range part.n {
			if err := w.write(c.next(part.noise)); err != nil {
				return err
			}
		}
		if err := w.close(); err != nil {
			return err
		}
	}
	return nil
}
