package kernel

// ofRun returns the rows i to i+3 of a run of rows of n elements. Rows past the last one repeat it.
func ofRun[T int8 | int16](run []T, n, i, last int) (a, b, c, d []T) {
	row := func(i int) []T { return run[i*n : (i+1)*n] }
	return row(i), row(min(i+1, last)), row(min(i+2, last)), row(min(i+3, last))
}

// ofIDs returns the rows of the ids i to i+3. Positions past the last id repeat its row.
func ofIDs[T int8 | int16](rows *Rows[T], ids []uint32, i int) (a, b, c, d []T) {
	last := len(ids) - 1
	return rows.Row(ids[i]), rows.Row(ids[min(i+1, last)]), rows.Row(ids[min(i+2, last)]), rows.Row(ids[min(i+3, last)])
}

func scanCodes(q, run []int8, out []int32) {
	base := codesBase(q)
	for i := 0; i < len(out); i += 4 {
		a, b, c, d := ofRun(run, len(q), i, len(out)-1)
		p := codes4(q, a, b, c, d, base)
		copy(out[i:], p[:])
	}
}

func gatherCodes(q []int8, rows *Rows8, ids []uint32, out []int32) {
	base := codesBase(q)
	for i := 0; i < len(out); i += 4 {
		a, b, c, d := ofIDs(rows, ids, i)
		p := codes4(q, a, b, c, d, base)
		copy(out[i:], p[:])
	}
}

func scanFloats(q []float32, run []int16, out []float32) {
	for i := 0; i < len(out); i += 4 {
		a, b, c, d := ofRun(run, len(q), i, len(out)-1)
		p := floats4(q, a, b, c, d)
		copy(out[i:], p[:])
	}
}

func gatherFloats(q []float32, rows *Rows16, ids []uint32, out []float32) {
	for i := 0; i < len(out); i += 4 {
		a, b, c, d := ofIDs(rows, ids, i)
		p := floats4(q, a, b, c, d)
		copy(out[i:], p[:])
	}
}
