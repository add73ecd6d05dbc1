package kernel

// floats4 returns the products of q with four rows of its length, a multiple of 8.
func floats4(q, a, b, c, d []float32) [4]float32 {
	return [4]float32{floats1(q, a), floats1(q, b), floats1(q, c), floats1(q, d)}
}

// floats1 returns the product of q with one row, summed in the order of [Kernels.Dot32]. The
// conversions keep the compiler from fusing a multiplication with its addition. The array pointers
// leave one bounds check per eight products.
func floats1(q, row []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for i := 0; i+8 <= len(q); i += 8 {
		x, r := (*[8]float32)(q[i:]), (*[8]float32)(row[i:])
		s0 += float32(x[0] * r[0])
		s1 += float32(x[1] * r[1])
		s2 += float32(x[2] * r[2])
		s3 += float32(x[3] * r[3])
		s4 += float32(x[4] * r[4])
		s5 += float32(x[5] * r[5])
		s6 += float32(x[6] * r[6])
		s7 += float32(x[7] * r[7])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
