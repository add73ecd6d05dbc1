package static

import (
	"math"

	"github.com/ragctx/ragctx/embed/internal/safetensors"
)

// matrix is the embedding table of a safetensors file.
type matrix struct {
	dim     int
	rows    safetensors.Tensor // two-dimensional
	weights *safetensors.Tensor
	mapping *safetensors.Tensor // from tokens to rows
}

// newMatrix finds the table of a model with the given number of tokens.
func newMatrix(tensors map[string]safetensors.Tensor, tokens int) (*matrix, error) {
	m := &matrix{}
	for _, name := range []string{"embeddings", "embedding.weight"} {
		if t, ok := tensors[name]; ok {
			m.rows = t
			break
		}
	}
	if len(m.rows.Shape) != 2 || m.rows.Kind == "I32" || m.rows.Kind == "I64" {
		return nil, safetensors.Invalid("has no numeric tensor named embeddings or embedding.weight")
	}
	if m.dim = m.rows.Shape[1]; m.dim < 1 || m.dim > maxDim {
		return nil, safetensors.Invalid("has %d dimensions; the limits are 1 and %d", m.dim, maxDim)
	}
	if tokens > maxTensors/m.dim {
		return nil, safetensors.Invalid("has %d dimensions for %d tokens, which is too large", m.dim, tokens)
	}
	for name, to := range map[string]**safetensors.Tensor{"weights": &m.weights, "mapping": &m.mapping} {
		t, ok := tensors[name]
		if !ok {
			continue
		}
		if len(t.Shape) != 1 || t.Shape[0] < tokens {
			return nil, safetensors.Invalid("has %s of shape %d for %d tokens", name, t.Shape, tokens)
		}
		*to = &t
	}
	if m.mapping == nil && m.rows.Shape[0] < tokens {
		return nil, safetensors.Invalid("has %d rows for %d tokens", m.rows.Shape[0], tokens)
	}
	return m, nil
}

// table returns the rows of all tokens that are not silent, quantized to 8 bits.
func (m *matrix) table(tokens int, silent map[int32]bool) (*table, error) {
	stride := (m.dim + dimStep - 1) / dimStep * dimStep
	t := &table{
		dim: stride, rowOf: make([]int32, tokens), rows: make([]byte, 0, tokens*stride),
	}
	values := make([]float64, m.dim)
	for token := range t.rowOf {
		t.rowOf[token] = -1
		if silent[int32(token)] {
			continue
		}
		scale, err := m.read(values, token)
		if err != nil {
			return nil, err
		}
		if scale == 0 {
			continue // contributes nothing
		}
		t.rowOf[token] = int32(len(t.scales))
		t.scales = append(t.scales, scale)
		t.rows = quantize(t.rows, values)
		t.rows = append(t.rows, make([]byte, stride-m.dim)...)
	}
	return t, nil
}

// read fills values with the row of a token, scaled so that the largest is 127. It returns the
// factor that restores the values, or 0 if all are zero.
func (m *matrix) read(values []float64, token int) (float32, error) {
	row, weight := token, 1.0
	if m.mapping != nil {
		at := m.mapping.Number(token)
		if !(at >= 0 && at < float64(m.rows.Shape[0])) {
			return 0, safetensors.Invalid("maps token %d to row %g, of %d", token, at, m.rows.Shape[0])
		}
		row = int(at)
	}
	if m.weights != nil {
		weight = m.weights.Number(token)
	}
	var largest float64
	for i := range values {
		values[i] = m.rows.Number(row*m.dim + i)
		largest = max(largest, math.Abs(values[i])) // NaN if a value is NaN
	}
	scale := float32(largest / 127 * weight)
	if scale-scale != 0 {
		return 0, safetensors.Invalid("has a value or weight for token %d that is not finite", token)
	}
	if scale != 0 {
		for i := range values {
			values[i] = values[i] / largest * 127
		}
	}
	return scale, nil
}

// quantize appends values as int8.
func quantize(rows []byte, values []float64) []byte {
	for _, x := range values {
		rows = append(rows, byte(int8(math.Round(x))))
	}
	return rows
}
