package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	embedding "github.com/ragctx/ragctx/embed/remote"
	"github.com/ragctx/ragctx/engine"
)

// embedKey is the secret of the embedding service. It comes from the environment or a named file,
// because command lines and settings files are widely readable.
const embedKey = "embed_key"

// maxKeyBytes is longer than any key.
const maxKeyBytes = 16 << 10

// embedSettings are the settings of the embedding service, listed after the others.
func embedSettings() []option {
	return []option{
		{"embed_shape", "API of the embedding service: openai, ollama or tei; empty uses no service", fixed(""), nil},
		{"embed_url", "URL of the embedding service; empty is OpenAI's hosted service, or Ollama on this machine", fixed(""), nil},
		{"embed_model", "model of the embedding service", fixed(""), nil},
		{"embed_revision", "your name for the version of the model; change it when the service changes the model", fixed("1"), nil},
		{
			"embed_dimensions", "components of the service's vectors; empty detects them",
			fixed(""), optional(checkCount(embedding.MaxDimensions)),
		},
		{
			"embed_shorten", "requests vectors of embed_dimensions components, which some models support", fixed("false"),
			checkOneOf("true", "false"),
		},
		{"embed_query_prefix", "prefix of queries that the model was trained with", fixed(""), nil},
		{"embed_document_prefix", "prefix of documents that the model was trained with", fixed(""), nil},
		{"embed_noise_floor", "cosine below which texts are unrelated with this model", fixed("0"), checkNumber},
		{"embed_max_bytes", "bytes that are sent of each text", fixed(strconv.Itoa(embedding.DefaultMaxBytes)), checkCount(1 << 20)},
		{
			"embed_batch_size", "largest number of texts per request; empty is 128 for openai, 32 for others",
			fixed(""), optional(checkCount(1 << 16)),
		},
		{
			"embed_batch_tokens", "largest number of tokens per request; empty is 100000 for openai, 16384 for others", fixed(""),
			optional(checkCount(1 << 30)),
		},
		{
			"embed_parallel", "concurrent requests for documents, and as many for queries",
			fixed(strconv.Itoa(embedding.DefaultParallel)), checkCount(1 << 10),
		},
		{
			"embed_encoding", "encoding of vectors from openai: float, or base64, which is shorter", fixed("float"),
			checkOneOf("float", "base64"),
		},
		{
			"embed_query_timeout", "timeout for the vector of a query, after which it is answered by keywords",
			fixed(embedding.DefaultQueryTimeout.String()), checkPositiveTime,
		},
		{"embed_timeout", "timeout for a full batch of documents", fixed(embedding.DefaultTimeout.String()), checkPositiveTime},
		{"embed_price", "price of a million tokens, in any currency, for the counters", fixed("0"), checkNumber},
		{"embed_key_file", "file with the service's key, unless RAGCTX_EMBED_KEY is set", fixed(""), nil},
	}
}

func checkCount(most int) func(string) error {
	return func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < 1 || n > most {
			return fmt.Errorf("is %q; use a whole number from 1 to %d", ragctx.Clip(v), most)
		}
		return nil
	}
}

func checkNumber(v string) error {
	if x, err := strconv.ParseFloat(v, 64); err != nil || !(x >= 0) {
		return fmt.Errorf("is %q; use a number from 0", ragctx.Clip(v))
	}
	return nil
}

// embeds reports whether any setting names a service.
func (s *settings) embeds() bool { return s.embedsBy() != "" }

// embedsBy returns the first setting that names a service, or "".
func (s *settings) embedsBy() string {
	for _, name := range []string{"embed_shape", "embed_url", "embed_model"} {
		if s.k.String(name) != "" {
			return name
		}
	}
	return ""
}

// embedOptions returns the options of the service from checked settings; empty values become 0.
func (s *settings) embedOptions(log *slog.Logger) embedding.Options {
	number := func(name string) float64 { x, _ := strconv.ParseFloat(s.k.String(name), 64); return x }
	span := func(name string) time.Duration { d, _ := time.ParseDuration(s.k.String(name)); return d }
	return embedding.Options{
		Shape: embedding.Shape(s.k.String("embed_shape")), URL: s.k.String("embed_url"),
		Model: s.k.String("embed_model"), APIKey: s.embedKey,
		Revision: s.k.String("embed_revision"), Dimensions: int(number("embed_dimensions")), Shorten: s.k.String("embed_shorten") == "true",
		QueryPrefix: s.k.String("embed_query_prefix"), DocumentPrefix: s.k.String("embed_document_prefix"),
		Floor:  number("embed_noise_floor"),
		Base64: s.k.String("embed_encoding") == "base64", MaxBytes: int(number("embed_max_bytes")),
		BatchSize: int(number("embed_batch_size")), BatchTokens: int(number("embed_batch_tokens")), Parallel: int(number("embed_parallel")),
		QueryTimeout: span("embed_query_timeout"), Timeout: span("embed_timeout"), Price: number("embed_price"), Logger: log,
	}
}

// service returns a client of the service that the settings name. Mistakes are errors only here,
// where the data directory is opened, as with the reranker.
func (s *settings) service(log *slog.Logger) (*embedding.Client, error) {
	if !s.embeds() {
		return nil, badUsage("%s is the embedding service of the settings, and they name none; see --%s", engine.RemoteName,
			flagName("embed_shape"))
	}
	if err := s.readEmbedKey(); err != nil {
		return nil, err
	}
	c, err := embedding.New(s.embedOptions(log))
	if err != nil {
		return nil, s.refused(err, cmp.Or(s.k.String("embed_key_file"), envName(embedKey)), "embed_")
	}
	return c, nil
}

// readEmbedKey reads the key from its file, unless the environment has it.
func (s *settings) readEmbedKey() error {
	name := s.k.String("embed_key_file")
	if s.embedKey != "" || name == "" {
		return nil
	}
	var err error
	if s.embedKey, err = readKeyFile(name); err != nil {
		return fmt.Errorf("%s: %w", s.where("embed_key_file"), err)
	}
	return nil
}

// checkEmbedder accepts names of embedders. Paths are checked when they are opened.
func checkEmbedder(name string) error {
	if builtin.NamesPath(name) {
		return nil
	}
	_, err := builtin.Open(name)
	return err
}

// embedderName returns the embedder of the settings by the name that reembed takes; "" is the data
// directory's.
func (s *settings) embedderName() (string, error) {
	name, by := s.k.String("embedder"), s.embedsBy()
	switch {
	case by == "":
		return name, nil
	case name != "":
		return "", badUsage("%s names an embedder and %s a service, and only one of them can make the vectors; set "+
			"one of them to \"\"", s.where("embedder"), s.where(by))
	}
	return engine.RemoteName, nil
}

// useEmbedder sets the engine's embedder: that of the settings, or the one to change to. It returns
// a function that closes it.
func (s *settings) useEmbedder(o *engine.Options) (func(), error) {
	name, from := s.reembed, ""
	if o.Reembed = name != ""; !o.Reembed {
		var err error
		if name, err = s.embedderName(); err != nil {
			return nil, err
		}
		from = s.where("embedder") + ": "
	}
	switch name {
	case "":
		return func() {}, nil
	case engine.RemoteName:
		client, err := s.service(o.Logger)
		if err != nil {
			return nil, err
		}
		o.Embedder = client
		return client.Close, nil
	}
	with, err := builtin.OpenLocal(name)
	if err != nil {
		return nil, fmt.Errorf("%s%w", from, err)
	}
	o.Embedder = with
	return func() {}, nil
}

// writeSpend prints the requests of this process to an embedding service.
func writeSpend(w io.Writer, c *client) {
	if c.local == nil {
		return
	}
	if u := c.local.Indexes().EmbedderInfo().Service; u != nil && u.Used() {
		fmt.Fprintln(w, "embedding service", spendText(*u))
	}
}

// spendText returns the requests to a service in one line.
func spendText(u embed.Usage) string {
	q, d := u.Queries, u.Documents
	text := fmt.Sprintf("%s: %s (%d repeated, %d failed, %d not sent), %s, %s",
		printable(u.Service), amount(q.Requests+d.Requests, "request"), q.Retries+d.Retries, q.Failures+d.Failures, q.NotAsked+d.NotAsked,
		amount(q.Texts+d.Texts, "text"), amount(q.Tokens+d.Tokens, "token"))
	if n := q.Estimated + d.Estimated; n > 0 {
		text += fmt.Sprintf(" (%d of them estimated)", n)
	}
	if u.Price > 0 {
		text += fmt.Sprintf(", cost %.4f", u.Cost)
	}
	if d.Rejected+d.Shortened > 0 {
		text += fmt.Sprintf("; %s refused, %d taken in part", amount(d.Rejected, "text"), d.Shortened)
	}
	return text
}

func writeEmbedder(w io.Writer, e engine.EmbedderInfo) {
	fmt.Fprintf(w, "embedder: %s, revision %s, %s\n", printable(e.Name), printable(e.Revision), amount(e.Dimensions, "dimension"))
	if e.Next != nil {
		fmt.Fprintf(w, "  being changed; the other one is %s, revision %s, %s\n", printable(e.Next.Name),
			printable(e.Next.Revision), amount(e.Next.Dimensions, "dimension"))
	}
	if e.Waiting > 0 {
		state := "is being done in the background"
		if e.Paused {
			state = "is paused"
		}
		fmt.Fprintf(w, "  about %s to embed, which %s; %s serves meanwhile\n", amount(int(e.Waiting), "chunk"), state, printable(e.Interim))
	}
	if u := e.Service; u != nil {
		state := "is asked"
		if u.State != "closed" {
			state = "FAILED and is left alone for a while"
		}
		fmt.Fprintf(w, "  service %s\n  it %s\n", spendText(*u), state)
	}
}
