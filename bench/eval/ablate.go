package eval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// Variant is a ranking that differs from the engine's default in one feature.
type Variant struct {
	Name string `json:"name"`
	// Adds marks features that are off by default. Other variants lack a default feature or use
	// other parameters.
	Adds    bool           `json:"adds,omitempty"`
	Ranking index.Ranking  `json:"ranking,omitzero"`
	Params  map[string]any `json:"params,omitempty"`
}

// off is the weight of a feature that is switched off.
const off = -1

// Variants returns the variants that [Ablate] measures: one for each ranking feature that can be
// switched per query.
func Variants() []Variant {
	keyword := func(name string, p index.KeywordParams) Variant {
		return Variant{Name: name, Ranking: index.Ranking{Keyword: p}}
	}
	dialogue := func(name string, d index.ConversationWeights) Variant {
		return Variant{Name: name, Ranking: index.Ranking{Conversation: d}}
	}
	return []Variant{
		{Name: "without vectors", Ranking: index.Ranking{Method: ModeKeyword}},
		{Name: "without words (vectors alone)", Ranking: index.Ranking{Method: ModeVector}},
		keyword("without pairs of words", index.KeywordParams{Pairs: off}),
		keyword("without 4-grams", index.KeywordParams{Grams: off}),
		keyword("without pairs and 4-grams", index.KeywordParams{Pairs: off, Grams: off}),
		keyword("without the chunk's own score", index.KeywordParams{Passage: off}),
		keyword("without the opening words", index.KeywordParams{Opening: off}),
		keyword("k1 0.9, b 0.4", index.KeywordParams{K1: 0.9, B: 0.4}),
		{Name: "vectors at 0.2", Ranking: index.Ranking{VectorWeight: 0.2}},
		{Name: "reciprocal rank fusion", Ranking: index.Ranking{Method: "rrf"}},
		dialogue("without neighbouring messages", index.ConversationWeights{Previous: off, Next: off, Second: off}),
		dialogue("without the session's score", index.ConversationWeights{Session: off}),
		dialogue("without named speakers", index.ConversationWeights{Speaker: off}),
		dialogue("without the weight of user messages", index.ConversationWeights{User: off}),
		dialogue("without time words of messages", index.ConversationWeights{Timed: off}),
		{Name: "without conversation features", Params: map[string]any{"dialogue": false}},
		{Name: "without the time weight", Ranking: index.Ranking{TimeWeight: off}},
		{Name: "without times in queries", Params: map[string]any{"time": false}},
		{Name: "without spelling correction", Params: map[string]any{"spelling": false}},
		{Name: "feedback", Adds: true, Params: map[string]any{"feedback": true}},
	}
}

// Ablation holds the gain or loss of each variant on each yardstick.
type Ablation struct {
	Embedder string `json:"embedder"`
	// Yardsticks are the columns, in the order of the sets. The last one is the macro mean over the
	// ranking sets, if all of them were measured.
	Yardsticks []string `json:"yardsticks"`
	// Shipped holds the means of the engine's default ranking.
	Shipped []float64     `json:"shipped"`
	Rows    []ablationRow `json:"rows"`
}

// ablationRow is a variant and its differences, one per yardstick.
type ablationRow struct {
	Variant

	Deltas []Delta `json:"deltas"`
	// Few marks yardsticks with too few questions for a significance test.
	Few []bool `json:"few"`
}

// yardstick is a measure over some of a set's questions.
type yardstick struct {
	name    string
	ranking bool  // part of the macro mean
	of      []int // indexes of the questions
	value   func(*measured) float64
}

// measured holds the measures of one question.
type measured struct {
	Measures
	spans SpanMeasures
}

func ndcg(m *measured) float64 { return m.NDCG10 }

// Ablate asks the questions of the sets with the default ranking and with every variant. It ingests
// the collections as [Run] does and reuses what [Run] has ingested.
func Ablate(ctx context.Context, o Options, variants []Variant) (Ablation, error) {
	var a Ablation
	o, err := o.withDefaults()
	if err != nil {
		return a, err
	}
	for _, v := range variants {
		if err := v.Ranking.Validate(); err != nil {
			return a, fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	a.Embedder = o.Embedder.Identity().String()
	var tables []table
	for _, name := range o.Sets {
		t, err := ablateSet(ctx, o, name, variants)
		if err != nil {
			return a, fmt.Errorf("%s: %w", name, err)
		}
		tables = append(tables, t...)
	}
	a.fill(variants, tables)
	return a, writeJSON(filepath.Join(o.Out, "ablation.json"), a)
}

// table holds the values of one yardstick, for the default ranking and for each variant.
type table struct {
	set     string
	name    string
	ranking bool
	shipped []float64
	varied  [][]float64
}

func ablateSet(ctx context.Context, o Options, name string, variants []Variant) (tables []table, err error) {
	s, err := openSet(ctx, o, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.eng.Close()) }()
	if err := (&asker{eng: s.eng, set: s.set, via: s.via}).warm(ctx); err != nil {
		return nil, err
	}
	yards := s.set.yardsticks(s.via)
	for _, y := range yards {
		tables = append(tables, table{set: name, name: y.name, ranking: y.ranking})
	}
	for i, v := range append([]Variant{{Name: "as shipped"}}, variants...) {
		a := asker{eng: s.eng, set: s.set, via: s.via, cpu: o.CPU, ranking: v.Ranking, params: v.Params}
		all, err := a.measureAll(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		for j, y := range yards {
			values := make([]float64, len(y.of))
			for k, q := range y.of {
				values[k] = y.value(&all[q])
			}
			if i == 0 {
				tables[j].shipped = values
			} else {
				tables[j].varied = append(tables[j].varied, values)
			}
		}
		o.Progress(Progress{Set: name, Stage: v.Name, Done: i, Total: len(variants)})
	}
	return tables, nil
}

// yardsticks returns the measures by which a set is judged.
func (s *Set) yardsticks(via string) []yardstick {
	if s.HasSpans && via == ViaDocs {
		all := s.places(nil)
		return []yardstick{
			{name: s.Name + " recall in 2,000", of: all, value: func(m *measured) float64 { return m.spans.RecallIn2000 }},
			{name: s.Name + " recall in 4,000", of: all, value: func(m *measured) float64 { return m.spans.RecallIn4000 }},
		}
	}
	var timed, other []string
	for _, g := range s.Groups {
		if strings.HasPrefix(g.Name, timeGroup) {
			timed = append(timed, g.Questions...)
		} else {
			other = append(other, g.Questions...)
		}
	}
	if len(timed) > 0 {
		return []yardstick{
			{name: s.Name + " with other words", of: s.places(other), value: ndcg},
			{name: s.Name + " time only", of: s.places(timed), value: ndcg},
		}
	}
	return []yardstick{{
		name: s.Name, ranking: slices.Contains(rankingSets[:], s.Name), of: s.places(headline(s)),
		value: ndcg,
	}}
}

// places returns the indexes of the given questions (nil is all) that have a relevant document.
func (s *Set) places(ids []string) (places []int) {
	for i := range s.Questions {
		q := &s.Questions[i]
		if ids != nil && !slices.Contains(ids, q.ID) {
			continue
		}
		if _, ok := Measure(nil, s.Qrels[q.ID]); ok || s.HasSpans {
			places = append(places, i)
		}
	}
	return places
}

// measureAll asks every question once, several at a time.
func (a *asker) measureAll(ctx context.Context) ([]measured, error) {
	out := make([]measured, len(a.set.Questions))
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for i := w; i < len(out) && errs[w] == nil; i += len(errs) {
				errs[w] = a.measure(ctx, &a.set.Questions[i], &out[i])
			}
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// measure asks one question. A question that the engine rejects counts 0.
func (a *asker) measure(ctx context.Context, q *Question, to *measured) error {
	hits, err := a.hits(ctx, a.query(q), firstHits)
	if errors.Is(err, ragctx.ErrInvalid) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("question %s: %w", q.ID, err)
	}
	docs := best(hits)
	to.Measures, _ = Measure(docs[:min(depth, len(docs))], a.set.Qrels[q.ID])
	to.spans = MeasureSpans(spansOf(hits), q.Metadata.Doc, q.Metadata.Spans)
	return nil
}

// fill compares every variant with the default ranking.
func (a *Ablation) fill(variants []Variant, tables []table) {
	ranked := 0
	for _, t := range tables {
		a.Yardsticks = append(a.Yardsticks, t.name)
		a.Shipped = append(a.Shipped, meanOf(t.shipped))
		if t.ranking {
			ranked++
		}
	}
	macro := ranked == len(rankingSets)
	if macro {
		a.Yardsticks = append(a.Yardsticks, "macro of the "+fmt.Sprint(ranked))
	}
	for i, v := range variants {
		row := ablationRow{Variant: v}
		var sum []pairSamples
		for _, t := range tables {
			s := bootstrap(t.set, t.shipped, t.varied[i])
			row.Deltas, row.Few = append(row.Deltas, s.delta()), append(row.Few, len(t.shipped) < minQuestions)
			if t.ranking {
				sum = append(sum, pairSamples{ndcg: s, r10: s})
			}
		}
		if macro {
			m := macroDelta("", sum).NDCG10
			row.Deltas, row.Few = append(row.Deltas, m), append(row.Few, false)
			if i == 0 {
				a.Shipped = append(a.Shipped, m.A)
			}
		}
		a.Rows = append(a.Rows, row)
	}
}
