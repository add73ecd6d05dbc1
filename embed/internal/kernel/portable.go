package kernel

import "math"

// The portable product multiplies two weights at once: they are the halves of a machine word, and
// the sums of both fit into theirs.
const (
	group = 16 // outputs at a time
	pairs = group / 2
)

func multiplyCodes(out []float32, c *Codes, rows int, m *Matrix, panel int) {
	for first := panel * Channels; first < (panel+1)*Channels; first += group {
		widen(c.wide, m, first)
		for r := range rows {
			sums := multiplyRow(c.data[r*m.Inputs:(r+1)*m.Inputs], c.wide)
			to := out[r*m.Outputs+first:][:group]
			for p, s := range sums {
				low := int32(s)
				high := int32((s - int64(low)) >> 32)
				at := first + 2*p
				to[2*p] = float32(float32(float32(low)*c.scales[r])*m.Scales[at]) + m.Bias[at]
				to[2*p+1] = float32(float32(float32(high)*c.scales[r])*m.Scales[at+1]) + m.Bias[at+1]
			}
		}
	}
}

// widen sets wide to the weights of a group of outputs, two to a word.
func widen(wide []int64, m *Matrix, first int) {
	for k := range m.Inputs {
		for p := range pairs {
			at := At(m.Inputs, k, first+2*p)
			wide[k*pairs+p] = int64(m.Panels[at]) + int64(m.Panels[at+steps])<<32
		}
	}
}

func multiplyRow(row []byte, wide []int64) [pairs]int64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 int64
	for _, code := range row {
		a := int64(code) - 128
		w := (*[pairs]int64)(wide)
		s0 += a * w[0]
		s1 += a * w[1]
		s2 += a * w[2]
		s3 += a * w[3]
		s4 += a * w[4]
		s5 += a * w[5]
		s6 += a * w[6]
		s7 += a * w[7]
		wide = wide[pairs:]
	}
	return [pairs]int64{s0, s1, s2, s3, s4, s5, s6, s7}
}

func largestOf(row, smooth []float32) float32 {
	var most float32
	for i, x := range row {
		most = max(most, float32(math.Abs(float64(x*smooth[i]))))
	}
	return most
}

func roundCodes(to []byte, row, smooth []float32, inverse float32) {
	for i, x := range row {
		to[i] = byte(int32(nearest(float32(float32(x*smooth[i])*inverse)))) ^ 0x80
	}
}

// nearest returns the nearest integer, the even one of two, of |x| < 2²².
func nearest(x float32) float32 {
	const shift = 3 << 22
	return float32(x+shift) - shift
}

func productFloats(c, a, b []float32, rows, columns, inner, rowC, rowA, rowB int) {
	for i := range rows {
		to := c[i*rowC : i*rowC+columns]
		clear(to)
		for k, x := range a[i*rowA : i*rowA+inner] {
			for j, y := range b[k*rowB : k*rowB+columns] {
				to[j] += float32(x * y)
			}
		}
	}
}

// total adds eight sums in the order of the assembly.
func total(l *[lanes]float32) float32 {
	return ((l[0] + l[4]) + (l[1] + l[5])) + ((l[2] + l[6]) + (l[3] + l[7]))
}

func addSumFloats(x, y []float32) float32 {
	var sums [lanes]float32
	for i := range x {
		x[i] += y[i]
		sums[i%lanes] += x[i]
	}
	return total(&sums)
}

func squaresFloats(x []float32, mean float32) float32 {
	var sums [lanes]float32
	for i, v := range x {
		d := v - mean
		sums[i%lanes] += float32(d * d)
	}
	return total(&sums)
}

func scaleFloats(x, gain, bias []float32, mean, factor float32) {
	for i, v := range x {
		x[i] = float32(float32((v-mean)*factor)*gain[i]) + bias[i]
	}
}

func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func softmaxFloats(x []float32) {
	most := x[0]
	for _, v := range x {
		most = max(most, v)
	}
	var sums [lanes]float32
	for i, v := range x {
		x[i] = exp(v - most)
		sums[i%lanes] += x[i]
	}
	factor := 1 / total(&sums)
	for i := range x {
		x[i] *= factor
	}
}

// The exponential is 2ⁿ·eʳ with n = round(x·log₂e), and r in two steps (Cody and Waite). eʳ is a
// polynomial of degree 6, with the coefficients of Cephes.
const (
	log2e   = 1.44269504088896341
	ln2High = 0.693359375
	ln2Low  = -2.12194440e-4
	least   = -86 // below, 2ⁿ is near the smallest float
	exp0    = 1.9875691500e-4
	exp1    = 1.3981999507e-3
	exp2    = 8.3334519073e-3
	exp3    = 4.1665795894e-2
	exp4    = 1.6666665459e-1
	exp5    = 5.0000001201e-1
)

// exp returns e to the power of x, which is at most 0.
func exp(x float32) float32 {
	x = max(x, least)
	n := nearest(float32(x * log2e))
	r := x - float32(n*ln2High)
	r -= float32(n * ln2Low)
	p := float32(exp0*r) + exp1
	p = float32(p*r) + exp2
	p = float32(p*r) + exp3
	p = float32(p*r) + exp4
	p = float32(p*r) + exp5
	p = float32(p*float32(r*r)) + r
	p++
	return math.Float32frombits(math.Float32bits(p) + uint32(int32(n))<<23)
}

// The error function is 1 − t·P(t)·e^(−a²), t = 1/(1+p·a) (Abramowitz and Stegun, 7.1.26, absolute
// error below 1.5e-7).
const (
	halfRoot = 0.707106781186547524
	erfP     = 0.3275911
	erf1     = 0.254829592
	erf2     = -0.284496736
	erf3     = 1.421413741
	erf4     = -1.453152027
	erf5     = 1.061405429
)

func geluFloats(x []float32) {
	for i, v := range x {
		size := float32(math.Abs(float64(v)))
		a := size * halfRoot
		t := 1 / (float32(a*erfP) + 1)
		p := float32(erf5*t) + erf4
		p = float32(p*t) + erf3
		p = float32(p*t) + erf2
		p = float32(p*t) + erf1
		p = float32(p*t) * exp(-float32(a*a))
		x[i] = max(v, 0) - float32(float32(size*0.5)*p)
	}
}
