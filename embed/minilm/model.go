package minilm

import (
	"math"
	"strconv"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed/internal/kernel"
	"github.com/ragctx/ragctx/embed/internal/safetensors"
)

// Limits of a model. They cover the models of the family up to BERT large.
const (
	maxLayers  = 24
	maxHidden  = 1024
	maxInner   = 4096
	maxLength  = 512
	maxTokens  = 1 << 18
	maxWeight  = 1e4 // sums stay finite
	innerStep  = kernel.Channels
	headStep   = kernel.FloatColumns
	hiddenStep = kernel.Channels
)

// model has the weights of an encoder.
type model struct {
	hidden, heads, inner int
	length               int  // largest number of tokens
	cls                  bool // the vector is that of the first token, not the mean
	eps                  float32

	words      []int8    // a row per token
	wordScales []float32 // per row
	positions  []float32 // a row per position, with the vector of the token type added
	first      norm
	layers     []layer
}

type norm struct{ gain, bias []float32 }

// layer is a layer of the encoder.
type layer struct {
	attentionIn, innerIn []float32 // factors of the inputs before they are quantized
	qkv, out, up, down   *kernel.Matrix
	attended, done       norm
}

func (m *model) tokens() int { return len(m.wordScales) }

// embed sets x to the vector of a token and y to that of its position.
func (m *model) embed(x, y []float32, id int32, position int) {
	scale := m.wordScales[id]
	for i, w := range m.words[int(id)*m.hidden:][:m.hidden] {
		x[i] = float32(w) * scale
	}
	copy(y, m.positions[position*m.hidden:])
}

// weights reads tensors by name.
type weights struct {
	tensors map[string]safetensors.Tensor
	prefix  string
	err     error // the first one
}

// read returns the values of a tensor, or zeros after an error.
func (w *weights) read(name string, shape ...int) []float32 {
	size := 1
	for _, n := range shape {
		size *= n
	}
	values := make([]float32, size)
	t, ok := w.tensors[w.prefix+name]
	switch {
	case w.err != nil:
		return values
	case !ok || t.Kind == "I32" || t.Kind == "I64" || t.Kind == "I8":
		w.err = safetensors.Invalid("has no float tensor %s", w.prefix+name)
		return values
	case len(t.Shape) != len(shape) || t.Shape[0] < shape[0] || len(shape) == 2 && t.Shape[1] != shape[1]:
		w.err = safetensors.Invalid("tensor %s has the shape %d, and config.json needs %d", w.prefix+name, t.Shape, shape)
		return values
	}
	for i := range values {
		v := t.Number(i)
		if !(math.Abs(v) <= maxWeight) {
			w.err = safetensors.Invalid("tensor %s has the value %g; the limit is %g", w.prefix+name, v, maxWeight)
			return values
		}
		values[i] = float32(v)
	}
	return values
}

func (w *weights) norm(name string, size int) norm {
	return norm{w.read(name+".weight", size), w.read(name+".bias", size)}
}

// linear is a linear layer before it is quantized: a row of weights per output.
type linear struct{ weight, bias []float32 }

func (w *weights) linear(name string, inputs, outputs int) linear {
	return linear{w.read(name+".weight", outputs, inputs), w.read(name+".bias", outputs)}
}

// times multiplies the outputs by a factor.
func (l linear) times(factor float32) linear {
	for i := range l.weight {
		l.weight[i] *= factor
	}
	for i := range l.bias {
		l.bias[i] *= factor
	}
	return l
}

// join returns the layer with the outputs of all.
func join(all ...linear) (joined linear) {
	for _, l := range all {
		joined.weight, joined.bias = append(joined.weight, l.weight...), append(joined.bias, l.bias...)
	}
	return joined
}

// quantize returns the 8-bit matrix of a layer whose inputs are multiplied by factors before.
func (l linear) quantize(factors []float32) *kernel.Matrix {
	outputs, inputs := len(l.bias), len(factors)
	panels, scales := make([]int8, inputs*outputs), make([]float32, outputs)
	for o := range outputs {
		row := l.weight[o*inputs : (o+1)*inputs]
		var largest float64
		for i, w := range row {
			largest = max(largest, math.Abs(float64(w)/float64(factors[i])))
		}
		if largest == 0 {
			continue
		}
		scales[o] = float32(largest / 127)
		for i, w := range row {
			panels[kernel.At(inputs, i, o)] = int8(math.Round(float64(w) / float64(factors[i]) / largest * 127))
		}
	}
	return kernel.NewMatrix(inputs, outputs, panels, scales, l.bias)
}

// balance returns factors of the inputs that come from a norm. Few inputs are large, and would leave
// few steps to the others. The factors move a part of the range into the weights (Xiao et al.,
// "SmoothQuant", 2023, with the gain and bias of the norm in place of observed ranges).
func (l linear) balance(n norm) []float32 {
	factors := make([]float32, len(n.gain))
	for i := range factors {
		size := 3*math.Abs(float64(n.gain[i])) + math.Abs(float64(n.bias[i]))
		var weight float64
		for o := range l.bias {
			weight = max(weight, math.Abs(float64(l.weight[o*len(factors)+i])))
		}
		factors[i] = 1
		if size > 1e-6 && weight > 1e-6 {
			factors[i] = float32(math.Sqrt(weight / size))
		}
	}
	return factors
}

// newModel returns the model of a directory's files.
func newModel(c *config, tensors map[string]safetensors.Tensor) (*model, error) {
	w := &weights{tensors: tensors}
	if _, ok := tensors["bert.embeddings.word_embeddings.weight"]; ok {
		w.prefix = "bert."
	}
	words, ok := tensors[w.prefix+"embeddings.word_embeddings.weight"]
	if !ok || len(words.Shape) != 2 || words.Shape[0] < 1 || words.Shape[0] > maxTokens {
		return nil, safetensors.Invalid("has no table embeddings.word_embeddings.weight of up to %d tokens", maxTokens)
	}
	m := &model{
		hidden: c.Hidden, heads: c.Heads, inner: c.Inner, length: c.length, cls: c.cls, eps: float32(c.Eps),
		first: w.norm("embeddings.LayerNorm", c.Hidden),
	}
	m.quantizeWords(w.read("embeddings.word_embeddings.weight", words.Shape[0], c.Hidden), words.Shape[0])
	m.positions = w.read("embeddings.position_embeddings.weight", c.length, c.Hidden)
	kind := w.read("embeddings.token_type_embeddings.weight", 1, c.Hidden)
	for i := range m.positions {
		m.positions[i] += kind[i%c.Hidden]
	}
	for i := range c.Layers {
		if w.err != nil {
			break
		}
		m.layers = append(m.layers, w.layer(m, i))
	}
	return m, w.err
}

func (m *model) quantizeWords(values []float32, tokens int) {
	m.words, m.wordScales = make([]int8, len(values)), make([]float32, tokens)
	for t := range tokens {
		row := values[t*m.hidden : (t+1)*m.hidden]
		var largest float64
		for _, v := range row {
			largest = max(largest, math.Abs(float64(v)))
		}
		if largest == 0 {
			continue
		}
		m.wordScales[t] = float32(largest / 127)
		for i, v := range row {
			m.words[t*m.hidden+i] = int8(math.Round(float64(v) / largest * 127))
		}
	}
}

// layer reads layer i, after the norm that its inputs come from.
func (w *weights) layer(m *model, i int) layer {
	name := "encoder.layer." + strconv.Itoa(i) + "."
	before := m.first
	if i > 0 {
		before = m.layers[i-1].done
	}
	query := w.linear(name+"attention.self.query", m.hidden, m.hidden)
	qkv := join(query.times(float32(1/math.Sqrt(float64(m.hidden/m.heads)))),
		w.linear(name+"attention.self.key", m.hidden, m.hidden), w.linear(name+"attention.self.value", m.hidden, m.hidden))
	out := w.linear(name+"attention.output.dense", m.hidden, m.hidden)
	up, down := w.linear(name+"intermediate.dense", m.hidden, m.inner), w.linear(name+"output.dense", m.inner, m.hidden)
	l := layer{attended: w.norm(name+"attention.output.LayerNorm", m.hidden), done: w.norm(name+"output.LayerNorm", m.hidden)}
	l.attentionIn, l.innerIn = qkv.balance(before), up.balance(l.attended)
	l.qkv, l.up = qkv.quantize(l.attentionIn), up.quantize(l.innerIn)
	l.out, l.down = out.quantize(ones(m.hidden)), down.quantize(ones(m.inner))
	return l
}

func ones(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

func invalidConfig(format string, args ...any) error {
	return ragctx.Invalid("config.json", format, args...)
}
