package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/llm"
)

// modelKey is the secret of the language model's service. It comes only from the environment, like
// the reranking service's.
const modelKey = "llm_key"

// modelSettings are the settings of the language model, listed after the others.
func modelSettings() []option {
	return []option{
		{"llm_url", "URL of a service with OpenAI's chat completions API; empty is OpenAI's own", fixed(""), nil},
		{"llm_model", "language model that extracts facts and summarises conversations; empty is none", fixed(""), nil},
		{"llm_memory_model", "model that extracts facts instead of llm_model; none extracts them by rules", fixed(""), nil},
		{"llm_summary_model", "model that summarises conversations instead of llm_model; none takes sentences from them", fixed(""), nil},
		{"llm_observation_model", "model that writes observations instead of llm_model; none takes them from the messages", fixed(""), nil},
		{"llm_timeout", "timeout of one request to the language model", fixed(llm.DefaultTimeout.String()), checkPositiveTime},
		{"llm_max_tokens_per_day", "tokens that the model may read and write per day; 0 is unlimited", fixed("0"), checkTokens},
	}
}

func checkTokens(v string) error {
	if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 0 {
		return fmt.Errorf("is %q; use a whole number from 0 to %d", ragctx.Clip(v), int64(math.MaxInt64))
	}
	return nil
}

// spentFile is the file in the data directory with the tokens used today.
const spentFile = "llm.json"

// noModel is the name that stands for no model.
const noModel = "none"

// modelFor returns the name of the model for a task (memory, summary, observation), or "".
func (s *settings) modelFor(task string) string {
	name := cmp.Or(s.k.String("llm_"+task+"_model"), s.k.String("llm_model"))
	if name == noModel {
		return ""
	}
	return name
}

// generator returns the language model of the settings, or nil. Mistakes are errors only here,
// where the data directory is opened.
func (s *settings) generator() (*model, error) {
	if s.modelFor("memory") == "" && s.k.String("memory_extraction") == "model" {
		return nil, badUsage("%s: is model, but llm_model and llm_memory_model name none; name one, or use rules",
			s.where("memory_extraction"))
	}
	name := cmp.Or(s.modelFor("memory"), s.modelFor("summary"), s.modelFor("observation"))
	if name == "" {
		return nil, nil
	}
	most, _ := strconv.ParseInt(s.k.String("llm_max_tokens_per_day"), 10, 64)
	timeout, _ := time.ParseDuration(s.k.String("llm_timeout"))
	m := &model{file: filepath.Join(s.Data, spentFile)}
	var err error
	m.Client, err = llm.New(llm.Options{
		URL: s.k.String("llm_url"), Model: name, APIKey: s.modelKey, Timeout: timeout,
		MaxTokensPerDay: most, UsedToday: m.spent(),
	})
	if err != nil {
		return nil, s.refused(err, envName(modelKey), "llm_")
	}
	return m, nil
}

// learn sets how the engine extracts memories from turns, and the models that summarise and observe
// conversations.
func (s *settings) learn(o *engine.Options, m *model) {
	o.KeepSecrets = s.k.String("memory_redact") == "false"
	o.Summarizer, o.Observer = m.named(s.modelFor("summary")), m.named(s.modelFor("observation"))
	switch s.k.String("memory_extraction") {
	case "off":
		o.FactExtraction.Off = true
	case "auto", "model":
		o.FactExtraction.Model = m.named(s.modelFor("memory"))
	}
}

// named returns the model of that name at the same service, or nil for "". All models share the daily limit.
func (m *model) named(name string) llm.Generator {
	if name == "" {
		return nil
	}
	return &namedModel{m, name}
}

// namedModel is a model of the service, by name.
type namedModel struct {
	*model

	name string
}

// Generate implements [llm.Generator].
func (m *namedModel) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	r.Model = m.name
	return m.model.Generate(ctx, r)
}

// model is a language model with a daily limit that survives restarts.
type model struct {
	*llm.Client

	file string
	mu   sync.Mutex
}

// Generate implements [llm.Generator].
func (m *model) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	out, err := m.Client.Generate(ctx, r)
	m.keep()
	return out, err
}

// keep writes the tokens used today. If it cannot, the limit starts again after a restart.
func (m *model) keep() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = atomicfile.WriteFile(atomicfile.OS{}, m.file, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(m.Today())
	})
}

func (m *model) spent() (s llm.DayUsage) {
	b, err := atomicfile.ReadFile(atomicfile.OS{}, m.file, 1<<10)
	if err != nil || json.Unmarshal(b, &s) != nil {
		return llm.DayUsage{}
	}
	return s
}
