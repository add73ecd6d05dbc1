package main

import (
	"context"
	"path/filepath"

	"github.com/ragctx/ragctx/bench"
	"github.com/ragctx/ragctx/bench/eval"
)

// entry is a line of corpus.jsonl.
type entry struct {
	ID       string         `json:"_id"`
	Title    string         `json:"title"`
	Text     string         `json:"text"`
	Metadata map[string]any `json:"metadata"`
}

// exportJudged exports a judged collection in the layout of "ragctx eval". If it has more questions
// than wanted, it takes a sample, the same one every time. It skips questions without a relevant
// document.
func exportJudged(ctx context.Context, from, out string, questions int) error {
	set, err := eval.OpenSet(from)
	if err != nil {
		return err
	}
	x, err := newExporter(ctx, out)
	if err != nil {
		return err
	}
	err = lines(filepath.Join(from, "corpus.jsonl"), func(e entry) error {
		scope, _ := e.Metadata[set.Field].(string)
		_, err := x.document(document{e.ID, e.Title, e.Text, scope})
		return err
	})
	if err != nil {
		return err
	}
	asked := make(map[string]eval.Question)
	var ids []string
	for _, q := range set.Questions {
		if _, ok := eval.Measure(nil, set.Qrels[q.ID]); ok {
			asked[q.ID], ids = q, append(ids, q.ID)
		}
	}
	qrels := make(map[string]map[string]int)
	for _, id := range bench.Sample(ids, questions) {
		q := asked[id]
		scope := ""
		switch set.Field {
		case "conversation":
			scope = string(q.Metadata.Conversation)
		case "lang":
			scope = string(q.Metadata.Lang)
		}
		if err := x.query(id, q.Text, scope); err != nil {
			return err
		}
		qrels[id] = set.Qrels[id]
	}
	if err := writeJSON(x.to.path("qrels.json"), qrels); err != nil {
		return err
	}
	return x.finish()
}
