package kernel

import "golang.org/x/sys/cpu"

// native returns the implementations of this machine that are faster than portable. Package cpu
// reports an instruction set only if the operating system saves the registers it uses.
func native() []*Kernels {
	var ks []*Kernels
	x := &cpu.X86
	if x.HasAVX2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512VNNI {
		ks = append(ks, &Kernels{Name: "avx512-vnni", set: avx512})
	}
	if x.HasAVX2 {
		ks = append(ks, &Kernels{Name: "avx2", set: avx2})
	}
	return ks
}

func (k *Kernels) multiply(out []float32, c *Codes, rows int, m *Matrix, panel int) {
	at, weights := panel*Channels, m.Panels[panel*Channels*m.Inputs:]
	switch k.set {
	case portable:
		multiplyCodes(out, c, rows, m, panel)
	case avx512:
		for r := 0; r < rows; r += Rows {
			multiplyVNNI(&out[r*m.Outputs+at], m.Outputs, &c.data[r*m.Inputs], m.Inputs, &weights[0], &m.offsets[at], &c.scales[r],
				&m.Scales[at], &m.Bias[at])
		}
	case avx2:
		for r := 0; r < rows; r += Rows {
			for first := 0; first < Channels; first += lanes {
				multiplyAVX2(&out[r*m.Outputs+at+first], m.Outputs, &c.data[2*r*m.Inputs], m.Inputs, &weights[first*steps], &c.scales[r],
					&m.Scales[at+first], &m.Bias[at+first])
			}
		}
	}
}

func (k *Kernels) largest(row, smooth []float32) float32 {
	if k.set == portable {
		return largestOf(row, smooth)
	}
	return largestAVX2(&row[0], &smooth[0], len(row))
}

func (k *Kernels) round(c *Codes, i int, row, smooth []float32, inverse float32) {
	switch k.set {
	case portable:
		roundCodes(c.data[i*c.inputs:], row, smooth, inverse)
	case avx512:
		roundAVX2(&c.data[i*c.inputs], &row[0], &smooth[0], len(row), inverse)
	case avx2:
		roundWideAVX2(&c.data[2*i*c.inputs], &row[0], &smooth[0], len(row), inverse)
	}
}

func (k *Kernels) product(c, a, b []float32, rows, columns, inner, rowC, rowA, rowB int) {
	if k.set == portable {
		productFloats(c, a, b, rows, columns, inner, rowC, rowA, rowB)
		return
	}
	for i := 0; i < rows; i += FloatRows {
		for j := 0; j < columns; j += FloatColumns {
			productAVX2(&c[i*rowC+j], &a[i*rowA], &b[j], inner, rowC, rowA, rowB)
		}
	}
}

func (k *Kernels) addSum(x, y []float32) float32 {
	if k.set == portable {
		return addSumFloats(x, y)
	}
	return addSumAVX2(&x[0], &y[0], len(x))
}

func (k *Kernels) squares(x []float32, mean float32) float32 {
	if k.set == portable {
		return squaresFloats(x, mean)
	}
	return squaresAVX2(&x[0], len(x), mean)
}

func (k *Kernels) scale(x, gain, bias []float32, mean, factor float32) {
	if k.set == portable {
		scaleFloats(x, gain, bias, mean, factor)
		return
	}
	scaleAVX2(&x[0], &gain[0], &bias[0], len(x), mean, factor)
}

func (k *Kernels) softmax(x []float32) {
	if k.set == portable {
		softmaxFloats(x)
		return
	}
	softmaxAVX2(&x[0], len(x))
}

func (k *Kernels) gelu(x []float32) {
	if k.set == portable {
		geluFloats(x)
		return
	}
	geluAVX2(&x[0], len(x))
}

//go:noescape
func multiplyVNNI(out *float32, outputs int, codes *byte, inputs int, panel *int8, offsets *int32, rowScales, scales, bias *float32)

//go:noescape
func multiplyAVX2(out *float32, outputs int, codes *byte, inputs int, panel *int8, rowScales, scales, bias *float32)

//go:noescape
func largestAVX2(row, smooth *float32, n int) float32

//go:noescape
func roundAVX2(to *byte, row, smooth *float32, n int, inverse float32)

//go:noescape
func roundWideAVX2(to *byte, row, smooth *float32, n int, inverse float32)

//go:noescape
func productAVX2(c, a, b *float32, inner, rowC, rowA, rowB int)

//go:noescape
func addSumAVX2(x, y *float32, n int) float32

//go:noescape
func squaresAVX2(x *float32, n int, mean float32) float32

//go:noescape
func scaleAVX2(x, gain, bias *float32, n int, mean, factor float32)

//go:noescape
func softmaxAVX2(x *float32, n int)

//go:noescape
func geluAVX2(x *float32, n int)
