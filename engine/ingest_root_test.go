package engine_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
)

// wiki is a root that is no place of the machine: texts by their names. A text
// that is "?" is there, but not given.
type wiki map[string]string

func (wiki) Name() string   { return "wiki://one" }
func (wiki) Prefix() string { return "wiki/" }

func (w wiki) Entries(context.Context) iter.Seq2[engine.Entry, error] {
	return func(yield func(engine.Entry, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if w[name] == "?" {
				continue
			}
			e := engine.Entry{ID: "wiki/" + name, Path: name, Read: func(context.Context) iter.Seq2[docs.Document, error] {
				return func(yield func(docs.Document, error) bool) {
					yield(docs.Document{ExternalID: "wiki/" + name, Text: w[name]}, nil)
				}
			}}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (w wiki) Gone(id string) bool {
	_, there := w[strings.TrimPrefix(id, "wiki/")]
	return !there
}

func TestIngestOfAnotherRoot(t *testing.T) {
	f := open(t)
	pages := wiki{"a": "alpha", "b": "beta", "c": "gamma"}
	o := engine.IngestOptions{Paths: []string{"wiki"}, Open: func(string, engine.IngestOptions) (engine.Root, error) { return pages, nil }}
	if r := f.ingest(o); r.Created != 3 {
		t.Errorf("first: %+v", r)
	}
	pages["a"], pages["b"] = "alpha two", "?"
	delete(pages, "c")
	if r := f.ingest(o); r.Replaced != 1 || r.Deleted != 1 || r.Unchanged != 0 {
		t.Errorf("after changes: %+v", r)
	}
	if got := f.ids(); !slices.Equal(got, []string{"wiki/a", "wiki/b"}) {
		t.Errorf("ids %v", got)
	}
}
