package minilm

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed/internal/kernel"
)

func open(tb testing.TB, dir string) *embedder {
	tb.Helper()
	e, err := openDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// randomTexts returns texts of the tiny model's words, of up to n words.
func randomTexts(count, n int) []string {
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields(strings.ReplaceAll(tinyWords, "##", ""))
	texts := make([]string, count)
	for i := range texts {
		var text []string
		for range 1 + r.IntN(n) {
			text = append(text, words[r.IntN(len(words))])
		}
		texts[i] = strings.Join(text, " ") + " up"
	}
	return texts
}

// many returns n, or a tenth of it for the race detector, which makes the kernels a hundred times slower.
func many(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestVectorsAreNearTheReference(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]map[string]string{
		"mean": {},
		"cls": {
			"modules.json":              `[{"path": "", "type": "x.Transformer"}, {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]`,
			"1_Pooling/config.json":     `{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false, "word_embedding_dimension": 64}`,
			"sentence_bert_config.json": `{"max_seq_length": 20}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tiny(t, dir)
			write(t, dir, more)
			e := open(t, dir)
			ref := newReference(t, dir, name == "cls", false)
			texts := randomTexts(many(60), 60)
			vectors, err := e.EmbedDocuments(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range e.tokenize(texts, "") {
				if len(in.ids) > e.model.length {
					t.Fatalf("%d tokens", len(in.ids))
				}
				if c := cosine(vectors[in.at], ref.vector(in.ids)); c < .998 {
					t.Errorf("%q: cosine %g to the reference", texts[in.at], c)
				}
			}
		})
	}
}

// A text's vector depends neither on the processor nor on the texts beside it.
func TestVectorsAreEqualEverywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tiny(t, dir)
	e := open(t, dir)
	texts := randomTexts(many(40), 50)
	want, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kernel.All() {
		other, err := newEmbedder(e.model, e.tokenizer)
		if err != nil {
			t.Fatal(err)
		}
		other.kernels = k
		for i, text := range texts {
			got, err := other.EmbedQuery(t.Context(), text)
			if err != nil || !slices.Equal(got, want[i]) {
				t.Fatalf("%s, %q: the vector differs (%v)", k.Name, text, err)
			}
		}
	}
}

func TestTextsWithoutVector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tiny(t, dir)
	e := open(t, dir)
	texts := []string{"", " !,", "unheard words", "roll back", "ελληνικά", "roll back unheard"}
	vectors, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, has := range []bool{false, false, false, true, false, true} {
		if (vectors[i] != nil) != has {
			t.Errorf("%q: %v", texts[i], vectors[i])
		}
	}
	if n := e.CountTokens("roll upward!"); n != 4 {
		t.Errorf("%d tokens", n)
	}
	if _, err := e.EmbedDocuments(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestPrefixes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tiny(t, dir)
	plain := open(t, dir)
	write(t, dir, map[string]string{"config_sentence_transformers.json": `{"prompts": {"query": "undo the ", "passage": "wind "}}`})
	e := open(t, dir)
	if id := e.Identity(); id.QueryPrefix != "undo the " || id.DocumentPrefix != "wind " || id.Revision == plain.Identity().Revision {
		t.Errorf("%+v", id)
	}
	asked, err := e.EmbedQuery(t.Context(), "release")
	if err != nil {
		t.Fatal(err)
	}
	said, err := e.EmbedDocuments(t.Context(), []string{"release", "?"})
	if err != nil || said[1] != nil {
		t.Fatal(said, err)
	}
	for text, got := range map[string][]float32{"undo the release": asked, "wind release": said[0]} {
		if want, err := plain.EmbedQuery(t.Context(), text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q differs (%v)", text, err)
		}
	}
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tiny(t, dir)
	e := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := e.EmbedDocuments(ctx, randomTexts(100, 30)); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("%v", err)
	}
	if v, err := e.EmbedQuery(ctx, "roll back"); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("%v", err)
	}
}

// Working memory is reused: only the results and tokens of a text are allocated.
func TestAllocations(t *testing.T) {
	dir := t.TempDir()
	tiny(t, dir)
	e := open(t, dir)
	s := newWorkspace(e.model, e.kernels)
	pack := e.tokenize(randomTexts(5, 20), "")
	if n := testing.AllocsPerRun(20, func() {
		if err := s.run(context.Background(), pack); err != nil {
			t.Error(err)
		}
	}); n > 1 { // the first run grows the list of starts
		t.Errorf("%g allocations", n)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	good := tiny(t, t.TempDir())
	config := func(from, to string) map[string]string {
		changed := strings.ReplaceAll(good["config.json"], from, to)
		return map[string]string{"config.json": changed}
	}
	for name, files := range map[string]map[string]string{
		"type":           config(`"bert"`, `"roberta"`),
		"activation":     config(`"gelu"`, `"gelu_new"`),
		"hidden":         config(`"hidden_size": 64`, `"hidden_size": 128`),
		"odd hidden":     config(`"hidden_size": 64`, `"hidden_size": 63`),
		"huge hidden":    config(`"hidden_size": 64`, `"hidden_size": 640000000`),
		"heads":          config(`"num_attention_heads": 4`, `"num_attention_heads": 8`),
		"no heads":       config(`"num_attention_heads": 4`, `"num_attention_heads": 0`),
		"layers":         config(`"num_hidden_layers": 6`, `"num_hidden_layers": 7`),
		"many layers":    config(`"num_hidden_layers": 6`, `"num_hidden_layers": 70`),
		"inner":          config(`128`, `192`),
		"eps":            config(`1e-12`, `-1`),
		"positions":      config(`: 40`, `: 41`),
		"no positions":   config(`: 40`, `: 0`),
		"relative":       config(`"hidden_act"`, `"position_embedding_type": "relative_key", "hidden_act"`),
		"not JSON":       config(`{`, ``),
		"tensors":        {"model.safetensors": good["model.safetensors"][:500]},
		"no model":       {"model.safetensors": ""},
		"not finite":     {"model.safetensors": good["model.safetensors"][:len(good["model.safetensors"])-4] + "\x00\x00\xc0\x7f"},
		"tokens":         {"tokenizer.json": strings.Replace(good["tokenizer.json"], `"release":`, `"more": 18, "release":`, 1)},
		"no CLS":         {"tokenizer.json": strings.NewReplacer("[CLS]", "[XLS]").Replace(good["tokenizer.json"])},
		"short":          {"sentence_bert_config.json": `{"max_seq_length": 2}`},
		"module":         {"modules.json": `[{"path": "2", "type": "sentence_transformers.models.Dense"}]`},
		"pooling path":   {"modules.json": `[{"path": "../1_Pooling", "type": "sentence_transformers.models.Pooling"}]`},
		"no pooling":     {"modules.json": `[{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]`},
		"max pooling":    {"modules.json": `[{"path": "1", "type": "Pooling"}]`, "1/config.json": `{"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}`},
		"two poolings":   {"modules.json": `[{"path": "1", "type": "Pooling"}]`, "1/config.json": `{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}`},
		"long prompt":    {"config_sentence_transformers.json": `{"prompts": {"query": "` + strings.Repeat("a", maxPrefix+1) + `"}}`},
		"invalid prompt": {"config_sentence_transformers.json": `{"prompts": 1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, all := t.TempDir(), maps.Clone(good)
			maps.Copy(all, files)
			write(t, dir, all)
			if _, err := Open(dir); !errors.Is(err, ragctx.ErrInvalid) {
				t.Errorf("%v", err)
			}
		})
	}
	for _, name := range []string{"config.json", "tokenizer.json", "model.safetensors"} {
		dir, all := t.TempDir(), maps.Clone(good)
		delete(all, name)
		write(t, dir, all)
		if _, err := Open(dir); !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("%v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("a file is opened as a directory")
	}
}
