//go:build !amd64

package kernel

func native() []*Kernels { return nil }

func (*Kernels) multiply(out []float32, c *Codes, rows int, m *Matrix, panel int) {
	multiplyCodes(out, c, rows, m, panel)
}

func (*Kernels) largest(row, smooth []float32) float32 { return largestOf(row, smooth) }

func (*Kernels) round(c *Codes, i int, row, smooth []float32, inverse float32) {
	roundCodes(c.data[i*c.inputs:], row, smooth, inverse)
}

func (*Kernels) product(c, a, b []float32, rows, columns, inner, rowC, rowA, rowB int) {
	productFloats(c, a, b, rows, columns, inner, rowC, rowA, rowB)
}

func (*Kernels) addSum(x, y []float32) float32 { return addSumFloats(x, y) }

func (*Kernels) squares(x []float32, mean float32) float32 { return squaresFloats(x, mean) }

func (*Kernels) scale(x, gain, bias []float32, mean, factor float32) {
	scaleFloats(x, gain, bias, mean, factor)
}

func (*Kernels) softmax(x []float32) { softmaxFloats(x) }

func (*Kernels) gelu(x []float32) { geluFloats(x) }
