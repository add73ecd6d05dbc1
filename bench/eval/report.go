package eval

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Report is the result of [Run].
type Report struct {
	Embedder string      `json:"embedder"`
	Cores    int         `json:"cores"`
	Seconds  float64     `json:"seconds"`
	Sets     []setReport `json:"sets"`
	// Macro holds the means over the ranking sets, one per mode.
	Macro []macroAverage `json:"macro"`
}

// setReport is the result of one set.
type setReport struct {
	Set       string       `json:"set"`
	Via       string       `json:"via"`
	Docs      int          `json:"docs"`
	Questions int          `json:"questions"`
	Scopes    int          `json:"scopes"`
	Ingest    ingestReport `json:"ingest"`
	// Undated lists the entries without a known time and the reasons. Such an entry has the time of
	// the previous one in its conversation, or else the data's. Only turns have times.
	Undated Reasons      `json:"undated,omitempty"`
	Modes   []modeReport `json:"modes"`
	// TimeQuestions counts the questions that ask only for a time. TimeSets is nil if there are
	// none or the engine does not read times.
	TimeQuestions int       `json:"time_questions"`
	TimeSets      *TimeSets `json:"time_sets"`
	// IndexBytes is the size of the indexes on disk after the run, DataBytes the size of
	// everything. Unflushed segments are not on disk: for a small set IndexBytes can be 0, and
	// shortly after an ingest it can lack the newest chunks.
	IndexBytes int64 `json:"index_bytes"`
	DataBytes  int64 `json:"data_bytes"`
}

// modeReport is the result of one mode on one set.
type modeReport struct {
	Mode string   `json:"mode"`
	All  Category `json:"all"`
	// Headline is the mean over the categories by which the set is judged; nil if all count.
	Headline   *Category     `json:"headline,omitempty"`
	Categories []Category    `json:"categories,omitempty"`
	Spans      *SpanMeasures `json:"spans,omitempty"`
	// Refused counts questions that the engine rejects, such as one that is too long; they count 0.
	// Reason is the reason of the last.
	Refused int     `json:"refused,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Latency Latency `json:"latency"`
	Seconds float64 `json:"seconds"`
}

// judged returns the mean by which the set is judged.
func (r modeReport) judged() Category {
	if r.Headline != nil {
		return *r.Headline
	}
	return r.All
}

// macroAverage is the unweighted mean over ranking sets.
type macroAverage struct {
	Mode string `json:"mode"`
	Sets int    `json:"sets"` // number of ranking sets that were measured
	Of   int    `json:"of"`
	Measures
}

// rankingSets are the sets whose macro mean ranks variants.
var rankingSets = [...]string{"locomo", "beam128k", "scifact", "cranfield", "cisi", "claudedocs", "cosqa", "xquad"}

// factual are the categories by which beam128k is judged. The other questions only name a topic, so
// no ranking is right.
var factual = [...]string{
	"information_extraction", "knowledge_update", "contradiction_resolution",
	"multi_session_reasoning", "temporal_reasoning",
}

// headline returns the questions by which a set is judged, or nil for all.
func headline(s *Set) []string {
	if s.Name != "beam128k" {
		return nil
	}
	var ids []string
	for _, g := range s.Groups {
		if slices.Contains(factual[:], g.Name) {
			ids = append(ids, g.Questions...)
		}
	}
	return ids
}

// macros averages the ranking sets, mode by mode.
func macros(sets []setReport) []macroAverage {
	var out []macroAverage
	for _, mode := range Modes() {
		m := macroAverage{Mode: mode, Of: len(rankingSets)}
		for _, s := range sets {
			if !slices.Contains(rankingSets[:], s.Set) {
				continue
			}
			for _, r := range s.Modes {
				if r.Mode == mode {
					m.Sets++
					m.Measures = m.plus(r.judged().Measures)
				}
			}
		}
		if m.Sets > 0 {
			m.Measures = m.over(m.Sets)
			out = append(out, m)
		}
	}
	return out
}

// measureSizes sets the sizes of the data directory.
func (r *setReport) measureSizes(dir string) (err error) {
	if r.DataBytes, err = diskBytes(dir); err == nil {
		r.IndexBytes, err = diskBytes(filepath.Join(dir, "index"))
	}
	if err != nil {
		return fmt.Errorf("measure data directory: %w", err)
	}
	return nil
}
