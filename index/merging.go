package index

// MergeRun returns how many of the parts of a leg, by ascending size, should become
// one, and the sum of their sizes; 0 if all is well. At least least parts are merged.
//
// It is the longest run of the smallest that ends with a part no larger than all
// before it together. So a merge at least doubles the size of what any unit lies in,
// and parts that are left differ by more than a factor of two.
func MergeRun(sizes []int, least int) (parts, total int) {
	sum := 0
	for i, n := range sizes {
		if i >= least-1 && n <= sum {
			parts, total = i+1, sum+n
		}
		sum += n
	}
	return parts, total
}
