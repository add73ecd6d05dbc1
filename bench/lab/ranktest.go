package main

import (
	"cmp"
	"math"
	"slices"
)

// rankTest returns the probability that two samples of one distribution differ in their ranks at
// least as much as a and b, in either direction: the test of Mann and Whitney (1947). It is exact,
// with ties too: it counts the choices of len(a) values by the sum of their ranks.
func rankTest(a, b []float64) float64 {
	ranks := twiceRanks(slices.Concat(a, b))
	total, sum := 0, 0
	for i, r := range ranks {
		total += r
		if i < len(a) {
			sum += r
		}
	}
	// ways[n][s] is the number of ways to choose n values whose ranks add up to s.
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

// twiceRanks returns twice the rank of each value, which is a whole number. Equal values share the
// mean of their ranks.
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

// leastChance returns the smallest result of rankTest for samples of these sizes.
func leastChance(n, m int) float64 {
	all := 1.0
	for i := range min(n, m) {
		all *= float64(n+m-i) / float64(i+1)
	}
	return min(1, 2/all)
}

// ratio estimates the factor from a to b with a 95 % confidence interval. The estimate is the
// median of all quotients (Hodges and Lehmann, 1963); the interval ends at the quotients that the
// rank test would just accept. All values are above 0. With too few values for an interval it is 0
// to infinity.
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
	skip := acceptedU(len(a), len(b))
	if skip < 0 {
		return estimate, 0, math.Inf(1)
	}
	return estimate, all[skip], all[n-1-skip]
}

// acceptedU returns the largest u for which the statistic U of Mann and Whitney is at most u
// with a probability of at most .025. It returns -1 if no u qualifies.
func acceptedU(n, m int) int {
	counts := make([][]float64, n+1) // [i][u]: ways to choose i values of the first sample with statistic u, without ties
	for i := range counts {
		counts[i] = make([]float64, n*m+1)
	}
	counts[0][0] = 1
	for rank := 1; rank <= n+m; rank++ {
		for i := min(n, rank); i > 0; i-- {
			// rank-i values of the other sample are below the i-th smallest of this one.
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
