package minilm

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/ragctx/ragctx/embed/internal/kernel"
	"github.com/ragctx/ragctx/embed/internal/safetensors"
)

// reference computes the vector of a text by the definition, without 8-bit numbers, from the files
// of a directory.
type reference struct {
	tensors                      map[string]safetensors.Tensor
	hidden, layers, heads, inner int
	eps                          float64
	cls                          bool
	columns                      map[string][]float32 // weights transposed, for the fast product
	fast                         bool                 // products of large matrices in float32
}

func newReference(tb testing.TB, dir string, cls, fast bool) *reference {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		tb.Fatal(err)
	}
	tensors, err := safetensors.Parse(data)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		tb.Fatal(err)
	}
	return &reference{tensors, c.Hidden, c.Layers, c.Heads, c.Inner, c.Eps, cls, make(map[string][]float32), fast}
}

func (r *reference) row(name string, i int) []float64 {
	t := r.tensors[name]
	n := t.Shape[len(t.Shape)-1]
	row := make([]float64, n)
	for j := range row {
		row[j] = t.Number(i*n + j)
	}
	return row
}

func (r *reference) linear(x [][]float64, name string) [][]float64 {
	inputs, outputs := len(x[0]), r.tensors[name+".bias"].Shape[0]
	bias := r.row(name+".bias", 0)
	y := make([][]float64, len(x))
	if r.fast {
		if r.columns[name] == nil {
			columns, t := make([]float32, inputs*outputs), r.tensors[name+".weight"]
			for i := range columns {
				columns[i%inputs*outputs+i/inputs] = float32(t.Number(i))
			}
			r.columns[name] = columns
		}
		rows := (len(x) + 3) / 4 * 4
		a, c := make([]float32, rows*inputs), make([]float32, rows*outputs)
		for i, row := range x {
			for j, v := range row {
				a[i*inputs+j] = float32(v)
			}
		}
		kernel.Best().Product(c, a, r.columns[name], rows, outputs, inputs, outputs, inputs, outputs)
		for i := range y {
			y[i] = slices.Clone(bias)
			for o := range bias {
				y[i][o] += float64(c[i*outputs+o])
			}
		}
		return y
	}
	for i, row := range x {
		y[i] = slices.Clone(bias)
		for o := range bias {
			for j, w := range r.row(name+".weight", o) {
				y[i][o] += w * row[j]
			}
		}
	}
	return y
}

func (r *reference) norm(x, y [][]float64, name string) [][]float64 {
	gain, bias := r.row(name+".weight", 0), r.row(name+".bias", 0)
	out := make([][]float64, len(x))
	for i := range x {
		row, mean, variance := slices.Clone(x[i]), 0.0, 0.0
		for j := range row {
			row[j] += y[i][j]
			mean += row[j] / float64(len(row))
		}
		for _, v := range row {
			variance += (v - mean) * (v - mean) / float64(len(row))
		}
		for j, v := range row {
			row[j] = (v-mean)/math.Sqrt(variance+r.eps)*gain[j] + bias[j]
		}
		out[i] = row
	}
	return out
}

func (r *reference) attend(q, k, v [][]float64) [][]float64 {
	size := r.hidden / r.heads
	out := make([][]float64, len(q))
	for i := range q {
		out[i] = make([]float64, r.hidden)
		for from := 0; from < r.hidden; from += size {
			weights, sum := make([]float64, len(k)), 0.0
			for j := range k {
				for d := from; d < from+size; d++ {
					weights[j] += q[i][d] * k[j][d]
				}
				weights[j] = math.Exp(weights[j] / math.Sqrt(float64(size)))
				sum += weights[j]
			}
			for j := range v {
				for d := from; d < from+size; d++ {
					out[i][d] += weights[j] / sum * v[j][d]
				}
			}
		}
	}
	return out
}

// vector returns the vector of a text's tokens.
func (r *reference) vector(ids []int32) []float64 {
	x, y := make([][]float64, len(ids)), make([][]float64, len(ids))
	for i, id := range ids {
		x[i], y[i] = r.row("embeddings.word_embeddings.weight", int(id)), r.row("embeddings.position_embeddings.weight", i)
		for j, v := range r.row("embeddings.token_type_embeddings.weight", 0) {
			y[i][j] += v
		}
	}
	x = r.norm(x, y, "embeddings.LayerNorm")
	for l := range r.layers {
		name := "encoder.layer." + strconv.Itoa(l) + "."
		self := name + "attention.self."
		attended := r.attend(r.linear(x, self+"query"), r.linear(x, self+"key"), r.linear(x, self+"value"))
		x = r.norm(x, r.linear(attended, name+"attention.output.dense"), name+"attention.output.LayerNorm")
		inner := r.linear(x, name+"intermediate.dense")
		for _, row := range inner {
			for j, v := range row {
				row[j] = v * (1 + math.Erf(v/math.Sqrt2)) / 2
			}
		}
		x = r.norm(x, r.linear(inner, name+"output.dense"), name+"output.LayerNorm")
	}
	v := make([]float64, r.hidden)
	for i, row := range x {
		for j := range row {
			if !r.cls || i == 0 {
				v[j] += row[j]
			}
		}
	}
	var squares float64
	for _, a := range v {
		squares += a * a
	}
	for j := range v {
		v[j] /= math.Sqrt(squares)
	}
	return v
}

func cosine(a []float32, b []float64) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * b[i]
	}
	return sum
}

// tensorFile returns a safetensors file of float32 values.
func tensorFile(tb testing.TB, shapes map[string][]int, values map[string][]float32) []byte {
	tb.Helper()
	head := make(map[string]any)
	var body bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		from := body.Len()
		if err := binary.Write(&body, binary.LittleEndian, values[name]); err != nil {
			tb.Fatal(err)
		}
		head[name] = map[string]any{"dtype": "F32", "shape": shapes[name], "data_offsets": []int{from, body.Len()}}
	}
	text, err := json.Marshal(head)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, body.Bytes())
}

const tinyWords = "roll back a release up ##ward down wind ##s undo ! , the of"

// tiny writes a directory with a random model: 64 components, 4 heads, 6 layers.
func tiny(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	vocab := map[string]int{"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
	for i, w := range bytes.Fields([]byte(tinyWords)) {
		vocab[string(w)] = 4 + i
	}
	const hidden, inner, layers = 64, 128, 6
	shapes := map[string][]int{
		"embeddings.word_embeddings.weight": {len(vocab), hidden}, "embeddings.position_embeddings.weight": {40, hidden},
		"embeddings.token_type_embeddings.weight": {2, hidden},
	}
	norm := func(name string) { shapes[name+".weight"], shapes[name+".bias"] = []int{hidden}, []int{hidden} }
	linear := func(name string, inputs, outputs int) {
		shapes[name+".weight"], shapes[name+".bias"] = []int{outputs, inputs}, []int{outputs}
	}
	norm("embeddings.LayerNorm")
	for i := range layers {
		name := "encoder.layer." + strconv.Itoa(i) + "."
		for _, part := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			linear(name+part, hidden, hidden)
		}
		norm(name + "attention.output.LayerNorm")
		linear(name+"intermediate.dense", hidden, inner)
		linear(name+"output.dense", inner, hidden)
		norm(name + "output.LayerNorm")
	}
	r := rand.New(rand.NewPCG(1, 2))
	values := make(map[string][]float32)
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		shape := shapes[name]
		size := shape[0]
		if len(shape) == 2 {
			size *= shape[1]
		}
		v := make([]float32, size)
		for i := range v {
			v[i] = float32(r.NormFloat64()) * .2
			if len(shape) == 1 && bytes.HasSuffix([]byte(name), []byte("weight")) {
				v[i]++
			}
		}
		values[name] = v
	}
	ids, err := json.Marshal(vocab)
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]string{
		"model.safetensors": string(tensorFile(tb, shapes, values)),
		"config.json": `{"model_type": "bert", "hidden_size": 64, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 128,
			"hidden_act": "gelu", "layer_norm_eps": 1e-12, "max_position_embeddings": 40}`,
		"tokenizer.json": `{"added_tokens": [{"id": 2, "content": "[CLS]", "special": true}, {"id": 3, "content": "[SEP]", "special": true}],
			"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
			"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": ` + string(ids) + `}}`,
	}
	write(tb, dir, all)
	return all
}

func write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}
