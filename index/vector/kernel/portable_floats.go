package kernel

// floats4 returns the products of q with four rows of its length, a multiple of
// 8. Two accumulators per row keep the adders busy and still fit the registers;
// the array pointers leave one bounds check per eight products.
func floats4(q, a, b, c, d []float32) [4]float32 {
	var a0, a1, b0, b1, c0, c1, d0, d1 float32
	for i := 0; i+8 <= len(q); i += 8 {
		x := (*[8]float32)(q[i:])
		ra, rb := (*[8]float32)(a[i:]), (*[8]float32)(b[i:])
		rc, rd := (*[8]float32)(c[i:]), (*[8]float32)(d[i:])
		x0 := x[0]
		a0 += x0 * ra[0]
		b0 += x0 * rb[0]
		c0 += x0 * rc[0]
		d0 += x0 * rd[0]
		x1 := x[1]
		a1 += x1 * ra[1]
		b1 += x1 * rb[1]
		c1 += x1 * rc[1]
		d1 += x1 * rd[1]
		x2 := x[2]
		a0 += x2 * ra[2]
		b0 += x2 * rb[2]
		c0 += x2 * rc[2]
		d0 += x2 * rd[2]
		x3 := x[3]
		a1 += x3 * ra[3]
		b1 += x3 * rb[3]
		c1 += x3 * rc[3]
		d1 += x3 * rd[3]
		x4 := x[4]
		a0 += x4 * ra[4]
		b0 += x4 * rb[4]
		c0 += x4 * rc[4]
		d0 += x4 * rd[4]
		x5 := x[5]
		a1 += x5 * ra[5]
		b1 += x5 * rb[5]
		c1 += x5 * rc[5]
		d1 += x5 * rd[5]
		x6 := x[6]
		a0 += x6 * ra[6]
		b0 += x6 * rb[6]
		c0 += x6 * rc[6]
		d0 += x6 * rd[6]
		x7 := x[7]
		a1 += x7 * ra[7]
		b1 += x7 * rb[7]
		c1 += x7 * rc[7]
		d1 += x7 * rd[7]
	}
	return [4]float32{a0 + a1, b0 + b1, c0 + c1, d0 + d1}
}
