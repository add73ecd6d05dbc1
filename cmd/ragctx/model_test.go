package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/knadh/koanf/v2"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/llm"
)

// TestModelsOfTasks: each task has its own model, that of llm_model, or none, whatever the others have.
func TestModelsOfTasks(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, req.Model)
	}))
	defer service.Close()
	for _, c := range []struct{ all, memory, summary, observation, extraction, want string }{
		{"", "", "", "", "auto", "- - -"},
		{"big", "", "", "", "auto", "big big big"},
		{"big", "small", "none", "", "auto", "small - big"},
		{"", "", "big", "", "auto", "- big -"},
		{"big", "", "", "none", "rules", "- big -"},
		{"big", "none", "none", "none", "auto", "- - -"},
	} {
		s := settings{k: koanf.New("\x00"), Data: t.TempDir(), modelKey: "k"}
		for name, v := range map[string]string{
			"llm_url": service.URL, "llm_model": c.all, "llm_memory_model": c.memory, "llm_summary_model": c.summary,
			"llm_observation_model": c.observation, "llm_timeout": "5s", "memory_extraction": c.extraction,
		} {
			if err := s.k.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
		m, err := s.generator()
		if err != nil {
			t.Fatal(err)
		}
		var o engine.Options
		s.learn(&o, m)
		says := func(g llm.Generator) string {
			if g == nil {
				return "-"
			}
			r, err := g.Generate(t.Context(), llm.Request{Messages: []llm.Message{{Text: "Who answers?"}}})
			if err != nil {
				t.Fatal(err)
			}
			return r.Text
		}
		if got := says(o.FactExtraction.Model) + " " + says(o.Summarizer) + " " + says(o.Observer); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
