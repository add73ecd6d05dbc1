package kernel

// scan sets each out[i] to the product of q with the row i of run.
func scan[T int8 | float32, S int32 | float32](q, run []T, out []S) {
	n := len(q)
	last := len(out) - 1
	row := func(i int) []T {
		i = min(i, last)
		return run[i*n : (i+1)*n]
	}
	for i := 0; i <= last; i += 4 {
		put(out[i:], product4[T, S](q, row(i), row(i+1), row(i+2), row(i+3)))
	}
}

// gather sets each out[i] to the product of q with the row ids[i].
func gather[T int8 | float32, S int32 | float32](q []T, rows *Rows[T], ids []uint32, out []S) {
	last := len(ids) - 1
	for i := 0; i <= last; i += 4 {
		put(out[i:], product4[T, S](q, rows.Row(ids[i]), rows.Row(ids[min(i+1, last)]),
			rows.Row(ids[min(i+2, last)]), rows.Row(ids[min(i+3, last)])))
	}
}

// put is copy; the compiler does better with four assignments.
func put[S int32 | float32](out []S, p [4]S) {
	if len(out) >= len(p) {
		*(*[4]S)(out) = p
		return
	}
	copy(out, p[:])
}

// product4 returns the products of q with four rows of its length, a multiple of
// 8. Two accumulators per row keep the adders busy and still fit the registers;
// the array pointers leave one bounds check per eight products.
func product4[T int8 | float32, S int32 | float32](q, a, b, c, d []T) [4]S {
	var a0, a1, b0, b1, c0, c1, d0, d1 S
	for i := 0; i+8 <= len(q); i += 8 {
		x := (*[8]T)(q[i:])
		ra, rb := (*[8]T)(a[i:]), (*[8]T)(b[i:])
		rc, rd := (*[8]T)(c[i:]), (*[8]T)(d[i:])
		x0 := S(x[0])
		a0 += x0 * S(ra[0])
		b0 += x0 * S(rb[0])
		c0 += x0 * S(rc[0])
		d0 += x0 * S(rd[0])
		x1 := S(x[1])
		a1 += x1 * S(ra[1])
		b1 += x1 * S(rb[1])
		c1 += x1 * S(rc[1])
		d1 += x1 * S(rd[1])
		x2 := S(x[2])
		a0 += x2 * S(ra[2])
		b0 += x2 * S(rb[2])
		c0 += x2 * S(rc[2])
		d0 += x2 * S(rd[2])
		x3 := S(x[3])
		a1 += x3 * S(ra[3])
		b1 += x3 * S(rb[3])
		c1 += x3 * S(rc[3])
		d1 += x3 * S(rd[3])
		x4 := S(x[4])
		a0 += x4 * S(ra[4])
		b0 += x4 * S(rb[4])
		c0 += x4 * S(rc[4])
		d0 += x4 * S(rd[4])
		x5 := S(x[5])
		a1 += x5 * S(ra[5])
		b1 += x5 * S(rb[5])
		c1 += x5 * S(rc[5])
		d1 += x5 * S(rd[5])
		x6 := S(x[6])
		a0 += x6 * S(ra[6])
		b0 += x6 * S(rb[6])
		c0 += x6 * S(rc[6])
		d0 += x6 * S(rd[6])
		x7 := S(x[7])
		a1 += x7 * S(ra[7])
		b1 += x7 * S(rb[7])
		c1 += x7 * S(rc[7])
		d1 += x7 * S(rd[7])
	}
	return [4]S{a0 + a1, b0 + b1, c0 + c1, d0 + d1}
}
