package bench

import (
	"cmp"
	"math"
	"slices"
)

// rankTest returns the probability that two samples of one and the same
// distribution differ in their ranks at least as much as a and b do, in either
// direction: the test of Mann and Whitney (1947), exact also where values are equal,
// by counting the choices of len(a) of all values by the sum of their ranks.
func rankTest(a, b []float64) float64 {
	ranks := twiceRanks(slices.Concat(a, b))
	total, sum := 0, 0
	for i, r := range ranks {
		total += r
		if i < len(a) {
			sum += r
		}
	}
	// ways[n][s] is in how many ways n of the values have ranks that add up to s.
	ways := make([][]float64, len(a)+1)
	for n := range ways {
		ways[n] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for n := len(a); n > 0; n-- {
			for s := total; s >= r; s-- {
				ways[n][s] += ways[n-1][s-r]
			}
		}
	}
	var below, above, all float64
	for s, w := range ways[len(a)] {
		all += w
		if s <= sum {
			below += w
		}
		if s >= sum {
			above += w
		}
	}
	return min(1, 2*min(below, above)/all)
}

// twiceRanks returns twice the rank of each value, the mean of their ranks for equal
// ones: a whole number.
func twiceRanks(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	ranks := make([]int, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			ranks[at] = i + 1 + j // twice the mean of i+1 … j
		}
		i = j
	}
	return ranks
}

// leastChance is the smallest value that rankTest returns for samples of these sizes.
func leastChance(n, m int) float64 {
	all := 1.0
	for i := range min(n, m) {
		all *= float64(n+m-i) / float64(i+1)
	}
	return min(1, 2/all)
}

// ratio estimates by how much b is more than a, as a factor, with an interval that
// holds the truth with a probability of at least .95: the median of all quotients
// (Hodges and Lehmann, 1963), and those of them at which the rank test would not be
// surprised. All values are above 0. Without values enough for an interval it is
// 0 to infinity.
func ratio(a, b []float64) (estimate, low, high float64) {
	var all []float64
	for _, x := range a {
		for _, y := range b {
			all = append(all, y/x)
		}
	}
	slices.Sort(all)
	n := len(all)
	estimate = all[n/2]
	if n%2 == 0 {
		estimate = math.Sqrt(all[n/2-1] * all[n/2])
	}
	skip := unsurprising(len(a), len(b))
	if skip < 0 {
		return estimate, 0, math.Inf(1)
	}
	return estimate, all[skip], all[n-1-skip]
}

// unsurprising returns the largest u such that the statistic U of Mann and Whitney
// is at most u with a probability of no more than .025; -1 if there is none.
func unsurprising(n, m int) int {
	counts := make([][]float64, n+1) // [i][u]: i of the values before, without ties
	for i := range counts {
		counts[i] = make([]float64, n*m+1)
	}
	counts[0][0] = 1
	for rank := 1; rank <= n+m; rank++ {
		for i := min(n, rank); i > 0; i-- {
			// The i-th smallest of the n has rank-i of the others below it.
			for u := n * m; u >= rank-i; u-- {
				if rank-i <= m {
					counts[i][u] += counts[i-1][u-(rank-i)]
				}
			}
		}
	}
	var all, below float64
	for _, c := range counts[n] {
		all += c
	}
	for u, c := range counts[n] {
		if below += c; below/all > 0.025 {
			return u - 1
		}
	}
	return -1
}
