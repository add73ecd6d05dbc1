package web

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// vectors are rows of the same length, which have length 1.
type vectors struct {
	dims int
	all  []float32
}

func (x vectors) len() int { return len(x.all) / max(x.dims, 1) }

func (x vectors) row(i int) []float32 { return x.all[i*x.dims : (i+1)*x.dims] }

func dot(a, b []float32) float64 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}

// plane is the plane of the two principal components of vectors.
type plane struct {
	mean []float32
	axes [2][]float32
}

// principal finds the plane by iteration of both axes together. Equal vectors give an equal plane.
func principal(x vectors) plane {
	const rounds = 25
	p := plane{mean: make([]float32, x.dims)}
	n := x.len()
	for i := range n {
		for j, a := range x.row(i) {
			p.mean[j] += a / float32(n)
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a start that is always the same, no secret
	for k := range p.axes {
		p.axes[k] = make([]float32, x.dims)
		for j := range p.axes[k] {
			p.axes[k][j] = r.Float32() - 0.5
		}
	}
	centred, next := make([]float32, x.dims), [2][]float32{make([]float32, x.dims), make([]float32, x.dims)}
	for range rounds {
		clear(next[0])
		clear(next[1])
		for i := range n {
			for j, a := range x.row(i) {
				centred[j] = a - p.mean[j]
			}
			for k := range next {
				s := float32(dot(centred, p.axes[k]))
				for j, a := range centred {
					next[k][j] += s * a
				}
			}
		}
		unit(next[0])
		s := float32(dot(next[0], next[1]))
		for j, a := range next[0] {
			next[1][j] -= s * a
		}
		unit(next[1])
		copy(p.axes[0], next[0])
		copy(p.axes[1], next[1])
	}
	return p
}

func unit(a []float32) {
	length := float32(math.Sqrt(dot(a, a)))
	if length == 0 {
		return
	}
	for i := range a {
		a[i] /= length
	}
}

// at returns the place of a vector in the plane.
func (p plane) at(v []float32) (out [2]float64) {
	for k, axis := range p.axes {
		out[k] = dot(v, axis) - dot(p.mean, axis)
	}
	return out
}

// neighbour is a row with its cosine to another vector.
type neighbour struct {
	i      int
	cosine float64
}

// nearest returns the rows that are most like a vector, the most similar first.
func (x vectors) nearest(v []float32, k int) []neighbour {
	all := make([]neighbour, x.len())
	for i := range all {
		all[i] = neighbour{i, dot(v, x.row(i))}
	}
	slices.SortFunc(all, func(a, b neighbour) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.i, b.i)) })
	return all[:min(k, len(all))]
}

// outliers returns the rows that are least like the most similar one of a sample of the others.
func (x vectors) outliers(k int) []neighbour {
	const sample = 400
	n := x.len()
	all := make([]neighbour, n)
	for i := range n {
		best := -1.0
		for s := range min(sample, n) {
			if j := s * n / min(sample, n); j != i {
				best = max(best, dot(x.row(i), x.row(j)))
			}
		}
		all[i] = neighbour{i, best}
	}
	slices.SortFunc(all, func(a, b neighbour) int { return cmp.Or(cmp.Compare(a.cosine, b.cosine), cmp.Compare(a.i, b.i)) })
	return all[:min(k, n)]
}

// pair is two rows with their cosine.
type pair struct {
	a, b   int
	cosine float64
}

// duplicates returns pairs of rows with at least a cosine, the most similar first. Candidates are rows with
// equal signs of projections, so of the pairs at the limit about one in ten is missed.
func (x vectors) duplicates(least float64, k int) []pair {
	const tables, bits, window = 8, 12, 64
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // projections that are always the same, no secret
	n := x.len()
	found := make(map[[2]int]float64)
	planes, codes, order := make([][]float32, bits), make([]int, n), make([]int, n)
	for range tables {
		for b := range planes {
			planes[b] = make([]float32, x.dims)
			for j := range planes[b] {
				planes[b][j] = float32(r.NormFloat64())
			}
		}
		for i := range n {
			codes[i], order[i] = 0, i
			for b := range planes {
				if dot(x.row(i), planes[b]) > 0 {
					codes[i] |= 1 << b
				}
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(codes[a], codes[b]) })
		for at, i := range order {
			for _, j := range order[at+1 : min(at+1+window, n)] {
				if codes[i] != codes[j] {
					break
				}
				if c := dot(x.row(i), x.row(j)); c >= least {
					found[[2]int{min(i, j), max(i, j)}] = c
				}
			}
		}
	}
	all := make([]pair, 0, len(found))
	for ends, c := range found {
		all = append(all, pair{ends[0], ends[1], c})
	}
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
	})
	return all[:min(k, len(all))]
}
