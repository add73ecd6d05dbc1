package main

import (
	"fmt"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
)

// packSettings are the settings of ledgers and contexts of agents.
func packSettings() []option {
	return []option{
		{"snapshot_sections", "topics of your own in the state of a cluster, such as DEPLOYED=deployment", fixed(""), checkSections},
		{"context_metrics", "1 logs the metrics of each context", fixed(""), nil},
		{"context_metrics_ledger", "1 publishes the metrics of each context in the cluster's ledger", fixed(""), nil},
	}
}

// readSections reads topics with their sections.
func readSections(text string) (map[string]string, error) {
	out := make(map[string]string)
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		topic, section, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no TOPIC=SECTION; write such as DEPLOYED=deployment", ragctx.Clip(pair))
		}
		out[strings.TrimSpace(topic)] = strings.TrimSpace(section)
	}
	return out, ledger.CheckSections(out)
}

func checkSections(text string) error {
	_, err := readSections(text)
	return err
}

// ledgers returns the engine's options for ledgers. Metrics are switched on by "1" only.
func (s *settings) ledgers() engine.Ledgers {
	sections, _ := readSections(s.k.String("snapshot_sections")) // checked
	return engine.Ledgers{
		Sections: sections, LogMetrics: s.k.String("context_metrics") == "1", PublishMetrics: s.k.String("context_metrics_ledger") == "1",
	}
}
