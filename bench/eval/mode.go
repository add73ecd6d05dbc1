package eval

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ragctx/ragctx"
)

// runMode asks every question of a set in one mode and writes the run files.
func runMode(ctx context.Context, o Options, a *asker, mode string) (r modeReport, err error) {
	start := time.Now()
	a.ranking = rankingOf(mode)
	if err := a.warm(ctx); err != nil {
		return r, err
	}
	base := filepath.Join(o.Out, a.set.Name+"."+mode)
	run, err := newOutput(base + ".run.tsv")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, run.finish(err == nil)) }()
	var spans *output
	if a.set.HasSpans && a.via == ViaDocs {
		if spans, err = newOutput(base + ".spans.tsv"); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, spans.finish(err == nil)) }()
	}
	t := tally{set: a.set, scores: make(scores)}
	for i := range a.set.Questions {
		q := &a.set.Questions[i]
		ans, err := a.ask(ctx, q)
		switch {
		case errors.Is(err, ragctx.ErrInvalid):
			t.refused++
			t.reason = err.Error()
		case err != nil:
			return r, err
		default:
			t.add(q, ans)
		}
		if err := writeRanking(run.w, q.ID, ans.docs); err != nil {
			return r, fmt.Errorf("write run: %w", err)
		}
		if spans != nil {
			if err := writeSpans(spans.w, q.ID, ans.chunks); err != nil {
				return r, fmt.Errorf("write spans: %w", err)
			}
		}
		o.Progress(Progress{Set: a.set.Name, Stage: mode, Done: i + 1, Total: len(a.set.Questions)})
	}
	r = t.report(mode, spans != nil)
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

// tally collects the measures of the questions.
type tally struct {
	set    *Set
	scores scores
	spans  SpanMeasures
	walls  []time.Duration
	cpu    time.Duration
	// refused counts questions that the engine rejects; they count 0.
	refused int
	reason  string
}

func (t *tally) add(q *Question, a answer) {
	if m, ok := Measure(a.docs, t.set.Qrels[q.ID]); ok {
		t.scores[q.ID] = m
	}
	t.spans = t.spans.plus(MeasureSpans(a.chunks, q.Metadata.Doc, q.Metadata.Spans))
	t.walls = append(t.walls, a.wall)
	t.cpu += a.cpu
}

func (t *tally) report(mode string, spans bool) modeReport {
	// A question with judgements that is not asked, or is rejected, counts 0.
	for id, grades := range t.set.Qrels {
		if _, asked := t.scores[id]; !asked {
			if m, ok := Measure(nil, grades); ok {
				t.scores[id] = m
			}
		}
	}
	r := modeReport{
		Mode: mode, All: t.scores.mean("all", t.scores.ids()),
		Categories: t.scores.categories(t.set.Groups), Latency: latencyOf(t.walls, t.cpu),
		Refused: t.refused, Reason: t.reason,
	}
	if ids := headline(t.set); ids != nil {
		c := t.scores.mean("headline", ids)
		r.Headline = &c
	}
	if spans {
		m := t.spans.over(len(t.set.Questions))
		r.Spans = &m
	}
	return r
}

// output is a file that appears under its name only when it is complete.
type output struct {
	f    *os.File
	w    *bufio.Writer
	path string
}

func newOutput(path string) (*output, error) {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return nil, fmt.Errorf("write run: %w", err)
	}
	return &output{f: f, w: bufio.NewWriterSize(f, 1<<16), path: path}, nil
}

func (o *output) finish(ok bool) error {
	err := errors.Join(o.w.Flush(), o.f.Close())
	if ok && err == nil {
		err = os.Rename(o.f.Name(), o.path)
	} else {
		err = errors.Join(err, os.Remove(o.f.Name()))
	}
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	return nil
}
