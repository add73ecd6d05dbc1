package minilm

import (
	"context"
	"math"

	"github.com/ragctx/ragctx/embed/internal/kernel"
)

const (
	innerRows = 48 // rows of the feed-forward network at a time, so that they stay in the cache
	scoreRows = 64 // rows of attention at a time
)

// workspace has the memory of one worker. It allocates nothing but the results.
type workspace struct {
	m *model
	k *kernel.Kernels

	starts  []int     // first row of each text, and the end
	x       []float32 // residuals, a row per token
	y       []float32 // output of a part of a layer
	qkv     []float32 // queries, keys and values
	inner   []float32
	keys    []float32 // transposed keys of one head
	scores  []float32
	codes   *kernel.Codes
	pooled  []float32
	ones    []float32
	columns int // length of a row of keys and scores
}

func newWorkspace(m *model, k *kernel.Kernels) *workspace {
	rows := roundUp(max(m.length, packTokens), innerRows)
	columns := roundUp(m.length, kernel.FloatColumns)
	s := &workspace{
		m: m, k: k, columns: columns,
		x: make([]float32, rows*m.hidden), y: make([]float32, (rows+kernel.FloatRows)*m.hidden),
		qkv: make([]float32, (rows+kernel.FloatRows)*3*m.hidden), inner: make([]float32, innerRows*m.inner),
		keys: make([]float32, m.hidden/m.heads*columns), scores: make([]float32, scoreRows*columns),
		codes: k.NewCodes(rows, max(m.hidden, m.inner)), pooled: make([]float32, m.hidden),
		ones: make([]float32, max(m.hidden, m.inner)),
	}
	for i := range s.ones {
		s.ones[i] = 1
	}
	return s
}

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// run computes the last layer of a pack of texts. Cancellation is noticed between layers.
func (s *workspace) run(ctx context.Context, texts []input) error {
	m, rows := s.m, 0
	s.starts = s.starts[:0]
	for _, t := range texts {
		s.starts = append(s.starts, rows)
		for i, id := range t.ids {
			m.embed(s.x[rows*m.hidden:][:m.hidden], s.y[:m.hidden], id, i)
			s.k.Norm(s.x[rows*m.hidden:][:m.hidden], s.y[:m.hidden], m.first.gain, m.first.bias, m.eps)
			rows++
		}
	}
	s.starts = append(s.starts, rows)
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.layer(&m.layers[i], rows)
	}
	return nil
}

func (s *workspace) layer(l *layer, rows int) {
	m, k := s.m, s.k
	x := s.x[:rows*m.hidden]
	k.Quantize(s.codes, x, l.attentionIn)
	k.Multiply(s.qkv, s.codes, rows, l.qkv)
	for i := range len(s.starts) - 1 {
		for head := range m.heads {
			s.attend(s.starts[i], s.starts[i+1], head)
		}
	}
	k.Quantize(s.codes, s.y[:rows*m.hidden], s.ones[:m.hidden])
	k.Multiply(s.y, s.codes, rows, l.out)
	s.norm(x, &l.attended)
	for from := 0; from < rows; from += innerRows {
		n := min(innerRows, rows-from)
		k.Quantize(s.codes, x[from*m.hidden:(from+n)*m.hidden], l.innerIn)
		k.Multiply(s.inner, s.codes, n, l.up)
		k.Gelu(s.inner[:n*m.inner])
		k.Quantize(s.codes, s.inner[:n*m.inner], s.ones[:m.inner])
		k.Multiply(s.y[from*m.hidden:], s.codes, n, l.down)
	}
	s.norm(x, &l.done)
}

// norm sets each row of x to the norm of its sum with the row of y.
func (s *workspace) norm(x []float32, n *norm) {
	d := s.m.hidden
	for at := 0; at < len(x); at += d {
		s.k.Norm(x[at:at+d], s.y[at:at+d], n.gain, n.bias, s.m.eps)
	}
}

// attend sets the head's part of y for a text, which has the rows from start to end. Rows up to a
// multiple of [kernel.FloatRows] are written; those after the text are written again by the next one.
func (s *workspace) attend(start, end, head int) {
	m := s.m
	size, n := m.hidden/m.heads, end-start
	wide := roundUp(n, kernel.FloatColumns)
	query := s.qkv[start*3*m.hidden+head*size:]
	key, value := query[m.hidden:], query[2*m.hidden:]
	for i := range n {
		for j, v := range key[i*3*m.hidden:][:size] {
			s.keys[j*wide+i] = v
		}
	}
	for j := range size {
		clear(s.keys[j*wide+n : (j+1)*wide])
	}
	for from := 0; from < n; from += scoreRows {
		rows := min(scoreRows, n-from)
		room := roundUp(rows, kernel.FloatRows)
		s.k.Product(s.scores, query[from*3*m.hidden:], s.keys, room, wide, size, wide, 3*m.hidden, wide)
		for i := range rows {
			row := s.scores[i*wide : (i+1)*wide]
			for j := n; j < wide; j++ {
				row[j] = -math.MaxFloat32
			}
			s.k.Softmax(row)
		}
		s.k.Product(s.y[(start+from)*m.hidden+head*size:], s.scores, value, room, size, n, m.hidden, wide, 3*m.hidden)
	}
}

// vector returns the vector of a text of the last run.
func (s *workspace) vector(text int) ([]float32, error) {
	d := s.m.hidden
	rows := s.x[s.starts[text]*d : s.starts[text+1]*d]
	if s.m.cls {
		return direction(rows[:d])
	}
	clear(s.pooled)
	for ; len(rows) > 0; rows = rows[d:] {
		for i, v := range rows[:d] {
			s.pooled[i] += v
		}
	}
	return direction(s.pooled)
}
