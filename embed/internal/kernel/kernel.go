// Package kernel has the arithmetic of a transformer's encoder: products of 8-bit matrices with
// 32-bit sums, and float32 operations on rows. It uses assembly where the processor has the
// instructions and portable Go elsewhere.
//
// All implementations agree to the bit: integer sums are exact, and every float32 operation is
// rounded by itself in one order, without fused multiplications. So a text has the same vector on
// every processor. The methods are safe for concurrent use and allocate nothing.
package kernel

import "fmt"

const (
	// Channels is the number of outputs in a panel of a [Matrix].
	Channels = 64
	// Rows is the number of rows that a product of matrices takes at a time.
	Rows = 6
	// FloatRows and FloatColumns are the block of a float product.
	FloatRows, FloatColumns = 4, 16

	steps = 4 // inputs that one instruction multiplies
	lanes = 8
)

// Kernels is one implementation.
type Kernels struct {
	// Name is the instruction set in use: "avx512-vnni", "avx2" or "portable".
	Name string

	set instructions
}

// instructions selects the code behind [Kernels]. An indirect call would move buffers to the heap.
type instructions uint8

const (
	portable instructions = iota
	avx2
	avx512
)

// Best returns the fastest implementation that runs on this machine.
func Best() *Kernels { return all[0] }

// All returns the implementations that run on this machine, the fastest first and the portable one
// last.
func All() []*Kernels { return append([]*Kernels(nil), all...) }

// all is decided once at start and never changes.
var all = append(native(), &Kernels{Name: "portable"})

// Matrix has 8-bit weights of a linear layer. Its panels have 64 outputs each. A panel lists four
// weights of every output, then the next four.
type Matrix struct {
	Inputs, Outputs int
	Panels          []int8    // from -127 to 127
	Scales, Bias    []float32 // per output

	offsets []int32 // -128 times the sum of an output's weights
}

// NewMatrix returns the matrix with the given panels. Inputs must be a multiple of 32 up to 65,536 and outputs of
// [Channels].
func NewMatrix(inputs, outputs int, panels []int8, scales, bias []float32) *Matrix {
	if inputs <= 0 || inputs%32 != 0 || inputs > 1<<16 || outputs <= 0 || outputs%Channels != 0 ||
		len(panels) != inputs*outputs || len(scales) != outputs || len(bias) != outputs {
		panic(fmt.Sprintf("kernel: a matrix of %d inputs, %d outputs, %d weights, %d scales and %d biases",
			inputs, outputs, len(panels), len(scales), len(bias)))
	}
	m := &Matrix{inputs, outputs, panels, scales, bias, make([]int32, outputs)}
	for i, w := range panels {
		m.offsets[i/(Channels*inputs)*Channels+i/steps%Channels] -= 128 * int32(w)
	}
	return m
}

// At returns the index in the panels of a weight.
func At(inputs, input, output int) int {
	panel, channel := output/Channels, output%Channels
	return (panel*inputs+input&^(steps-1))*Channels + channel*steps + input%steps
}

// Codes are rows of 8-bit activations with a scale per row, in the form that the kernels need.
type Codes struct {
	inputs int
	data   []byte
	scales []float32
	wide   []int64 // panels in the form of the portable product
}

// NewCodes returns room for rows of up to the given number of inputs. Rows must be a multiple of [Rows].
func (k *Kernels) NewCodes(rows, inputs int) *Codes {
	c := &Codes{scales: make([]float32, rows)}
	switch k.set {
	case avx512:
		c.data = make([]byte, rows*inputs)
	case avx2:
		c.data = make([]byte, 2*rows*inputs)
	case portable:
		c.data = make([]byte, rows*inputs)
		c.wide = make([]int64, inputs*pairs)
	}
	return c
}

// Quantize sets the first len(x)/len(smooth) rows of c to the rows of x times smooth, rounded to
// 8 bits. len(smooth) must be a multiple of 32.
func (k *Kernels) Quantize(c *Codes, x, smooth []float32) {
	n := len(smooth)
	if n == 0 || n%32 != 0 || len(x)%n != 0 || len(x)/n > len(c.scales) {
		panic(fmt.Sprintf("kernel: %d activations in rows of %d for %d rows of codes", len(x), n, len(c.scales)))
	}
	c.inputs = n
	for i := range len(x) / n {
		k.quantize(c, i, x[i*n:(i+1)*n], smooth)
	}
}

// quantize sets a row of codes.
func (k *Kernels) quantize(c *Codes, i int, row, smooth []float32) {
	largest := k.largest(row, smooth)
	c.scales[i] = largest / 127
	var inverse float32
	if largest > 1e-30 {
		inverse = 127 / largest
	}
	k.round(c, i, row, smooth, inverse)
}

// Multiply sets the first rows of out, which are m.Outputs long, to codes times m plus its bias. It
// computes rows up to a multiple of [Rows]; out and c must have room for them.
func (k *Kernels) Multiply(out []float32, c *Codes, rows int, m *Matrix) {
	rows = (rows + Rows - 1) / Rows * Rows
	if m.Inputs != c.inputs || rows > len(c.scales) || len(out) < rows*m.Outputs {
		panic(fmt.Sprintf("kernel: %d of %d rows of %d codes for a matrix of %d inputs, %d results",
			rows, len(c.scales), c.inputs, m.Inputs, len(out)))
	}
	for panel := range m.Outputs / Channels {
		k.multiply(out, c, rows, m, panel)
	}
}

// Product sets c = a·b for floats: c has rows and columns, a rows and inner, b inner and columns.
// Each has its own length of a row in memory. Rows and columns are multiples of [FloatRows] and
// [FloatColumns].
func (k *Kernels) Product(c, a, b []float32, rows, columns, inner, rowC, rowA, rowB int) {
	if rows%FloatRows != 0 || columns%FloatColumns != 0 || rows <= 0 || columns <= 0 || inner <= 0 ||
		rowC < columns || rowA < inner || rowB < columns || len(c) < (rows-1)*rowC+columns ||
		len(a) < (rows-1)*rowA+inner || len(b) < (inner-1)*rowB+columns {
		panic(fmt.Sprintf("kernel: a product of %d×%d by %d×%d in %d, %d and %d floats",
			rows, inner, inner, columns, len(a), len(b), len(c)))
	}
	k.product(c, a, b, rows, columns, inner, rowC, rowA, rowB)
}

// Norm sets x to the layer norm of x+y: zero mean and unit variance, times gain plus bias.
func (k *Kernels) Norm(x, y, gain, bias []float32, eps float32) {
	n := checkRow(len(x))
	if len(y) != n || len(gain) != n || len(bias) != n {
		panic(fmt.Sprintf("kernel: a norm of %d, %d, %d and %d floats", n, len(y), len(gain), len(bias)))
	}
	mean := k.addSum(x, y) / float32(n)
	variance := k.squares(x, mean) / float32(n)
	k.scale(x, gain, bias, mean, 1/root(variance+eps))
}

// Softmax sets x to its exponentials, divided by their sum.
func (k *Kernels) Softmax(x []float32) { checkRow(len(x)); k.softmax(x) }

// Gelu sets each x to x·Φ(x), where Φ is the normal distribution.
func (k *Kernels) Gelu(x []float32) { checkRow(len(x)); k.gelu(x) }

func checkRow(n int) int {
	if n <= 0 || n%lanes != 0 {
		panic(fmt.Sprintf("kernel: a row of %d floats: want a multiple of %d", n, lanes))
	}
	return n
}
