package kernel

// floats4 returns the products of q with the codes of four rows of its length, a multiple of 8.
func floats4(q []float32, a, b, c, d []int16) [4]float32 {
	return [4]float32{floats1(q, a), floats1(q, b), floats1(q, c), floats1(q, d)}
}

// floats1 returns the product of q with the codes of one row, summed in the order of [Kernels.Dot16]. The
// conversions keep the compiler from fusing a multiplication with its addition. The array pointers
// leave one bounds check per eight products.
func floats1(q []float32, row []int16) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for i := 0; i+8 <= len(q); i += 8 {
		x, r := (*[8]float32)(q[i:]), (*[8]int16)(row[i:])
		s0 += float32(x[0] * float32(r[0]))
		s1 += float32(x[1] * float32(r[1]))
		s2 += float32(x[2] * float32(r[2]))
		s3 += float32(x[3] * float32(r[3]))
		s4 += float32(x[4] * float32(r[4]))
		s5 += float32(x[5] * float32(r[5]))
		s6 += float32(x[6] * float32(r[6]))
		s7 += float32(x[7] * float32(r[7]))
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
