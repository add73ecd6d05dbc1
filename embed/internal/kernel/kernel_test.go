package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func normal(r *rand.Rand, n int, size float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64()) * size
	}
	return x
}

// randomMatrix returns a matrix with random weights, some of them the largest and the smallest.
func randomMatrix(r *rand.Rand, inputs, outputs int) *Matrix {
	w := make([]int8, inputs*outputs)
	for i := range w {
		w[i] = int8(r.IntN(255) - 127)
		if i%7 == 0 {
			w[i] = int8(127 - 254*r.IntN(2))
		}
	}
	return NewMatrix(inputs, outputs, w, normal(r, outputs, .01), normal(r, outputs, 1))
}

func equal(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// The sums of each implementation are those of the definition, to the bit.
func TestMultiply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		inputs, outputs := 32*rapid.IntRange(1, 20).Draw(rt, "inputs"), Channels*rapid.IntRange(1, 3).Draw(rt, "outputs")
		rows := rapid.IntRange(1, 14).Draw(rt, "rows")
		m, x, smooth := randomMatrix(r, inputs, outputs), normal(r, rows*inputs, 3), normal(r, inputs, 1)
		if rapid.Bool().Draw(rt, "zeros") {
			clear(x[:inputs])
		}
		room := (rows + Rows - 1) / Rows * Rows
		want := make([]float32, rows*outputs)
		for i := range rows {
			row := x[i*inputs : (i+1)*inputs]
			largest := largestOf(row, smooth)
			for o := range outputs {
				var sum int32
				for k, v := range row {
					if largest > 0 {
						sum += int32(math.RoundToEven(float64(float32(v*smooth[k])*(127/largest)))) * int32(m.Panels[At(inputs, k, o)])
					}
				}
				want[i*outputs+o] = float32(float32(float32(sum)*(largest/127))*m.Scales[o]) + m.Bias[o]
			}
		}
		for _, k := range All() {
			c, out := k.NewCodes(room, inputs), make([]float32, room*outputs)
			k.Quantize(c, x, smooth)
			k.Multiply(out, c, rows, m)
			if !equal(out[:rows*outputs], want) {
				rt.Fatalf("%s: %d rows of %d inputs, %d outputs differ from the definition", k.Name, rows, inputs, outputs)
			}
		}
	})
}

// The largest sums fit into 32 bits.
func TestMultiplyExtremes(t *testing.T) {
	t.Parallel()
	const inputs = 1 << 16
	for _, sign := range []int8{1, -1} {
		panels := slices.Repeat([]int8{127 * sign}, inputs*Channels)
		m := NewMatrix(inputs, Channels, panels, slices.Repeat([]float32{1}, Channels), make([]float32, Channels))
		x := slices.Repeat([]float32{1}, inputs)
		for _, k := range All() {
			c, out := k.NewCodes(Rows, inputs), make([]float32, Rows*Channels)
			k.Quantize(c, x, x)
			k.Multiply(out, c, 1, m)
			if want := float32(float32(127*127*inputs*int32(sign)) * (float32(1) / 127)); out[0] != want || out[Channels-1] != want {
				t.Errorf("%s: %g and %g, want %g", k.Name, out[0], out[Channels-1], want)
			}
		}
	}
}

// Float operations are near their definitions in float64, and equal in all implementations.
func TestRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		n := 8 * rapid.IntRange(1, 40).Draw(rt, "n")
		x, y, gain, bias := normal(r, n, 5), normal(r, n, 5), normal(r, n, 1), normal(r, n, 1)
		if rapid.Bool().Draw(rt, "far apart") {
			x[0], y[n-1] = -300, 40
		}
		for name, op := range map[string]struct {
			do   func(k *Kernels, x []float32)
			want func() []float64
		}{
			"gelu":    {func(k *Kernels, x []float32) { k.Gelu(x) }, func() []float64 { return wantGelu(x) }},
			"softmax": {func(k *Kernels, x []float32) { k.Softmax(x) }, func() []float64 { return wantSoftmax(x) }},
			"norm":    {func(k *Kernels, x []float32) { k.Norm(x, y, gain, bias, 1e-6) }, func() []float64 { return wantNorm(x, y, gain, bias) }},
		} {
			want := op.want()
			var first []float32
			for i, k := range All() {
				got := slices.Clone(x)
				op.do(k, got)
				if i == 0 {
					first = got
				} else if !equal(got, first) {
					rt.Fatalf("%s of %s differs from %s", name, k.Name, All()[0].Name)
				}
				for j, g := range got {
					if math.Abs(float64(g)-want[j]) > 3e-6*(1+math.Abs(want[j])) {
						rt.Fatalf("%s of %s: %g becomes %g, want %g", name, k.Name, x[j], g, want[j])
					}
				}
			}
		}
	})
}

func wantGelu(x []float32) []float64 {
	want := make([]float64, len(x))
	for i, v := range x {
		want[i] = float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2)) / 2
	}
	return want
}

func wantSoftmax(x []float32) []float64 {
	want, sum := make([]float64, len(x)), 0.0
	for i, v := range x {
		want[i] = math.Exp(float64(v - slices.Max(x)))
		sum += want[i]
	}
	for i := range want {
		want[i] /= sum
	}
	return want
}

func wantNorm(x, y, gain, bias []float32) []float64 {
	want, mean, variance := make([]float64, len(x)), 0.0, 0.0
	for i := range x {
		want[i] = float64(x[i]) + float64(y[i])
		mean += want[i] / float64(len(x))
	}
	for _, v := range want {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i, v := range want {
		want[i] = (v-mean)/math.Sqrt(variance+1e-6)*float64(gain[i]) + float64(bias[i])
	}
	return want
}

// Products of floats are equal in all implementations, and nothing beside the result is written.
func TestProduct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		rows, columns := FloatRows*rapid.IntRange(1, 4).Draw(rt, "rows"), FloatColumns*rapid.IntRange(1, 3).Draw(rt, "columns")
		inner := rapid.IntRange(1, 70).Draw(rt, "inner")
		rowA, rowB, rowC := inner+r.IntN(9), columns+r.IntN(9), columns+r.IntN(9)
		a, b := normal(r, rows*rowA, 1), normal(r, inner*rowB, 1)
		want := normal(r, rows*rowC, 1)
		before := slices.Clone(want)
		for i := range rows {
			for j := range columns {
				var sum float32
				for k := range inner {
					sum += float32(a[i*rowA+k] * b[k*rowB+j])
				}
				want[i*rowC+j] = sum
			}
		}
		for _, k := range All() {
			got := slices.Clone(before)
			k.Product(got, a, b, rows, columns, inner, rowC, rowA, rowB)
			if !equal(got, want) {
				rt.Fatalf("%s: %d×%d by %d×%d differs", k.Name, rows, inner, inner, columns)
			}
		}
	})
}

// BenchmarkMultiply multiplies 128 rows, as a layer does. An operation is one product of matrices;
// ns/op ÷ (128 · inputs · outputs) is the time of a multiplication.
func BenchmarkMultiply(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range [][2]int{{384, 1536}, {1536, 384}} {
		m, x := randomMatrix(r, size[0], size[1]), normal(r, 128*size[0], 1)
		smooth := slices.Repeat([]float32{1}, size[0])
		for _, k := range All() {
			b.Run(k.Name, func(b *testing.B) {
				c, out := k.NewCodes(132, size[0]), make([]float32, 132*size[1])
				k.Quantize(c, x, smooth)
				n := 0
				for b.Loop() {
					k.Multiply(out, c, 128, m)
					n++
				}
				b.ReportMetric(float64(n)*128*float64(size[0]*size[1])/b.Elapsed().Seconds()/1e9, "GMAC/s")
			})
		}
	}
}

// BenchmarkRows computes the float operations of a layer for 128 tokens.
func BenchmarkRows(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := normal(r, 128*1536, 1), normal(r, 128*1536, 1)
	for _, k := range All() {
		c := k.NewCodes(128, 1536)
		for name, do := range map[string]func(){
			"gelu/":     func() { k.Gelu(x) },
			"softmax/":  func() { k.Softmax(y) },
			"quantize/": func() { k.Quantize(c, x, y[:1536]) },
			"product/":  func() { k.Product(x, y, y[128*128:], 128, 128, 32, 128, 32, 128) },
		} {
			b.Run(name+k.Name, func(b *testing.B) {
				for b.Loop() {
					do()
				}
			})
		}
	}
}
