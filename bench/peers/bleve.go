package main

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en" // the analyzer "en"
	"github.com/blevesearch/bleve/v2/search/query"
)

// blevePeer is plain bleve, configured as its docs/scoring.md recommends. Its vectors need cgo and
// faiss, so it searches by keywords only.
type blevePeer struct{ index bleve.Index }

func (p *blevePeer) setup() (version, text string, modes []string) {
	return versionOf("github.com/blevesearch/bleve/v2"),
		"analyzer `en`, scoring model `bm25`, text stored; batches of 1,000; scope as a filter", []string{"keyword"}
}

func (p *blevePeer) open(_ context.Context, store string) (err error) {
	path := filepath.Join(store, "bleve")
	if p.index, err = bleve.Open(path); !errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		return err
	}
	m := bleve.NewIndexMapping()
	m.DefaultAnalyzer, m.ScoringModel = "en", "bm25"
	scope := bleve.NewTextFieldMapping()
	scope.Analyzer = keyword.Name
	m.DefaultMapping.AddFieldMappingsAt("scope", scope)
	p.index, err = bleve.New(path, m)
	return err
}

func (p *blevePeer) ingest(_ context.Context, set dataset) error {
	return set.chunks(1000, func(number int, cs []chunkLine, _ [][]float32) error {
		b := p.index.NewBatch()
		for i, c := range cs {
			if err := b.Index(strconv.Itoa(number+i), map[string]any{"text": c.Text, "scope": c.Scope}); err != nil {
				return err
			}
		}
		return p.index.Batch(b)
	})
}

func (p *blevePeer) search(ctx context.Context, q question, k int) ([]any, error) {
	match := bleve.NewMatchQuery(q.Text)
	match.SetField("text")
	var asked query.Query = match
	if q.Scope != "" {
		scope := bleve.NewTermQuery(q.Scope)
		scope.SetField("scope")
		both := bleve.NewBooleanQuery()
		both.AddMust(match)
		both.AddFilter(scope)
		asked = both
	}
	r := bleve.NewSearchRequestOptions(asked, k, 0, false)
	r.Fields = []string{"text"}
	found, err := p.index.SearchInContext(ctx, r)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(found.Hits))
	for i, h := range found.Hits {
		if out[i], err = strconv.Atoi(h.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *blevePeer) close() error {
	if p.index == nil {
		return nil
	}
	return p.index.Close()
}

// versionOf returns the version of a module in this program.
func versionOf(module string) string {
	b, _ := debug.ReadBuildInfo()
	for _, m := range b.Deps {
		if m.Path == module {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return ""
}
