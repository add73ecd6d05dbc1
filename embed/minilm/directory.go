package minilm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/internal/safetensors"
	"github.com/ragctx/ragctx/embed/internal/wordpiece"
)

const (
	maxTensors = 1 << 31
	maxJSON    = 1 << 26
	maxPrefix  = 1 << 10
)

// Open returns the embedder of a directory with a BERT model as saved by sentence-transformers:
// config.json, model.safetensors and tokenizer.json (WordPiece). These files are read if they exist:
// modules.json and the pooling's config.json (mean or CLS; mean without them),
// sentence_bert_config.json (max_seq_length), and config_sentence_transformers.json, whose prompts
// "query" and "document" or "passage" are put before texts. Vectors have length 1. Weights are
// quantized to 8 bits.
//
// The name is [NamePrefix] and the name of the directory; the revision is derived from the contents
// of the files. Errors match ragctx.ErrInvalid unless a file could not be read.
func Open(dir string) (embed.Embedder, error) {
	e, err := openDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return e, nil
}

func openDir(dir string) (*embedder, error) {
	f := files{dir: dir, hash: sha256.New()}
	c, err := f.config()
	if err != nil {
		return nil, err
	}
	tokens, err := f.read("tokenizer.json", maxJSON, true)
	if err != nil {
		return nil, err
	}
	tokenizer, err := wordpiece.Parse(tokens)
	if err != nil {
		return nil, err
	}
	data, err := f.read("model.safetensors", maxTensors, true)
	if err != nil {
		return nil, err
	}
	tensors, err := safetensors.Parse(data)
	if err != nil {
		return nil, err
	}
	m, err := newModel(c, tensors)
	if err != nil {
		return nil, err
	}
	e, err := newEmbedder(m, tokenizer)
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	e.identity = embed.Identity{
		Name: NamePrefix + strings.ToValidUTF8(filepath.Base(full), ""), Revision: hex.EncodeToString(f.hash.Sum(nil)[:8]),
		Dimensions: m.hidden, Pooling: c.pooling(), Normalized: true, QueryPrefix: c.query, DocumentPrefix: c.document,
	}
	e.noiseFloor, err = e.measureFloor(context.Background())
	return e, err
}

// files reads the files of a directory and hashes them.
type files struct {
	dir  string
	hash hash.Hash
}

// read returns the contents of a file, or nil if it does not exist and is not needed.
func (f *files) read(name string, limit int64, needed bool) ([]byte, error) {
	data, err := safetensors.ReadFile(filepath.Join(f.dir, filepath.FromSlash(name)), limit)
	if errors.Is(err, fs.ErrNotExist) {
		if needed {
			return nil, ragctx.Invalid("embedder",
				"the directory has no %s; config.json, tokenizer.json and model.safetensors are needed", name)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(f.hash, "%s %d\n", name, len(data))
	f.hash.Write(data)
	return data, nil
}

// parse reads a JSON file into a value. It leaves the value as it is if the file does not exist and is not needed.
func (f *files) parse(name string, into any, needed bool) error {
	data, err := f.read(name, maxJSON, needed)
	if err != nil || data == nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return ragctx.Invalid(name, "is invalid: %v", err)
	}
	return nil
}

// config is what the files say about the model.
type config struct {
	Type       string  `json:"model_type"`
	Hidden     int     `json:"hidden_size"`
	Layers     int     `json:"num_hidden_layers"`
	Heads      int     `json:"num_attention_heads"`
	Inner      int     `json:"intermediate_size"`
	Activation string  `json:"hidden_act"`
	Eps        float64 `json:"layer_norm_eps"`
	Positions  int     `json:"max_position_embeddings"`
	Placed     string  `json:"position_embedding_type"`

	length          int
	cls             bool
	query, document string
}

func (f *files) config() (*config, error) {
	c := &config{Eps: 1e-12}
	if err := f.parse("config.json", c, true); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	var sentence struct {
		Length int `json:"max_seq_length"`
	}
	if err := f.parse("sentence_bert_config.json", &sentence, false); err != nil {
		return nil, err
	}
	c.length = min(c.Positions, maxLength)
	if sentence.Length != 0 {
		if sentence.Length < 3 {
			return nil, ragctx.Invalid("sentence_bert_config.json", "has the max_seq_length %d; the least is 3", sentence.Length)
		}
		c.length = min(c.length, sentence.Length)
	}
	if err := f.pooling(c); err != nil {
		return nil, err
	}
	return c, f.prompts(c)
}

// check returns an error for the first value that is invalid or not supported.
func (c *config) check() error {
	switch {
	case c.Type != "bert":
		return invalidConfig("has the model_type %q; only \"bert\" is supported", ragctx.Clip(c.Type))
	case c.Activation != "gelu":
		return invalidConfig("has the hidden_act %q; only \"gelu\" is supported", ragctx.Clip(c.Activation))
	case c.Placed != "" && c.Placed != "absolute":
		return invalidConfig("has the position_embedding_type %q; only \"absolute\" is supported", ragctx.Clip(c.Placed))
	case c.Layers < 1 || c.Layers > maxLayers:
		return invalidConfig("has %d num_hidden_layers; the limits are 1 and %d", c.Layers, maxLayers)
	case c.Hidden < hiddenStep || c.Hidden > maxHidden || c.Hidden%hiddenStep != 0:
		return invalidConfig("has the hidden_size %d; it must be a multiple of %d up to %d", c.Hidden, hiddenStep, maxHidden)
	case c.Inner < innerStep || c.Inner > maxInner || c.Inner%innerStep != 0:
		return invalidConfig("has the intermediate_size %d; it must be a multiple of %d up to %d", c.Inner, innerStep, maxInner)
	case c.Heads < 1 || c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%headStep != 0:
		return invalidConfig("has %d num_attention_heads; each must have a multiple of %d of the hidden_size %d",
			c.Heads, headStep, c.Hidden)
	case c.Positions < 3 || c.Positions > 1<<16:
		return invalidConfig("has %d max_position_embeddings; the limits are 3 and %d", c.Positions, 1<<16)
	case !(c.Eps > 0 && c.Eps < 1):
		return invalidConfig("has the layer_norm_eps %g; it must be between 0 and 1", c.Eps)
	}
	return nil
}

// pooling returns how the vector of a text is made.
func (c *config) pooling() string {
	if c.cls {
		return "cls"
	}
	return "mean"
}

// pooling reads modules.json and the configuration of the pooling.
func (f *files) pooling(c *config) error {
	var modules []struct {
		Path string `json:"path"`
		Type string `json:"type"`
	}
	if err := f.parse("modules.json", &modules, false); err != nil {
		return err
	}
	for _, m := range modules {
		kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]
		switch kind {
		case "Transformer", "Normalize":
			continue
		case "Pooling":
		default:
			return ragctx.Invalid("modules.json", "has the module %q; only Transformer, Pooling and Normalize are supported",
				ragctx.Clip(m.Type))
		}
		if !filepath.IsLocal(m.Path) {
			return ragctx.Invalid("modules.json", "has the path %q, which is outside the directory", ragctx.Clip(m.Path))
		}
		var modes map[string]any
		name := m.Path + "/config.json"
		if err := f.parse(name, &modes, true); err != nil {
			return err
		}
		const first, every = "pooling_mode_cls_token", "pooling_mode_mean_tokens"
		cls, mean := modes[first] == true, modes[every] == true
		for mode, on := range modes {
			if on == true && strings.HasPrefix(mode, "pooling_mode_") && mode != first && mode != every {
				return ragctx.Invalid(name, "sets %s; only the modes cls_token and mean_tokens are supported", ragctx.Clip(mode))
			}
		}
		if cls == mean {
			return ragctx.Invalid(name, "must set one of pooling_mode_cls_token and pooling_mode_mean_tokens")
		}
		c.cls = cls
	}
	return nil
}

// prompts reads the prefixes of queries and documents.
func (f *files) prompts(c *config) error {
	const name = "config_sentence_transformers.json"
	var saved struct {
		Prompts map[string]string `json:"prompts"`
	}
	if err := f.parse(name, &saved, false); err != nil {
		return err
	}
	c.query, c.document = saved.Prompts["query"], saved.Prompts["document"]
	if c.document == "" {
		c.document = saved.Prompts["passage"]
	}
	if len(c.query) > maxPrefix || len(c.document) > maxPrefix {
		return ragctx.Invalid(name, "has a prompt of over %d bytes", maxPrefix)
	}
	return nil
}
