package index

// MergeRun returns how many of the segments of an index, by ascending size, to merge into one, and
// the sum of their sizes; 0 if no merge is needed. At least least segments are merged.
//
// It selects the longest run of the smallest segments with a last one no larger than all before
// it together. So a merge at least doubles the size of the segment of any chunk, and the remaining
// segments differ by more than a factor of two.
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
