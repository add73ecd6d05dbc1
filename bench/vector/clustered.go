package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Shape of the generated vectors. Embeddings of texts form clusters within topics. Within a cluster
// they vary in tens of directions, in some much more than in others; topic sizes differ by orders
// of magnitude. The constants were chosen so that hnswlib needs about the same ef for a recall of
// .95 as with embeddings of sentences by all-MiniLM-L6-v2.
const (
	clusters   = 1000
	topics     = 40
	directions = 48   // per cluster
	ownShare   = .8   // weight of a cluster's own centre, as opposed to its topic's
	spread     = 1.3  // length of a vector's part along its cluster's directions
	noise      = .7   // length of a vector's part in all directions
	queryNoise = 1.2  // the same for queries, which are phrased differently from texts
	blend      = .9   // largest share of a second cluster in a vector
	zipf       = 1.0  // cluster sizes fall with rank to this power
	decay      = -.35 // deviations along the directions fall with rank to this power
)

// clustered draws vectors around cluster centres. Equal seeds give equal vectors on all machines
// with the same rounding.
type clustered struct {
	dim     int
	r       *rand.Rand
	centres [][]float32
	bases   [][][]float32
	upTo    []float64 // cumulative shares of the clusters
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

// basis returns the directions of a cluster, scaled to the deviation along each.
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

// next returns a vector of a random cluster with an admixture of another.
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
