package main

import (
	"flag"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"
	bleveanalysis "github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/registry"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

var ingest = flag.String("ingest", "", "a folder of chunks, made by \"peers corpus\", that TestKeywordIngest "+
	"indexes; \"\" leaves it out")

// features gives bleve the features that ragctx's keyword index computes for a text.
type features struct{}

func (features) Tokenize(text []byte) (out bleveanalysis.TokenStream) {
	var room []byte
	analysis.Features(string(text), func(_ analysis.Kind, term []byte) {
		from := len(room)
		room = append(room, term...)
		out = append(out, &bleveanalysis.Token{Term: room[from:len(room):len(room)], Position: len(out) + 1})
	})
	return out
}

// bleveOf returns a plain bleve index with one field and the named analyzer, and nothing else that
// keyword search does not need.
func bleveOf(dir, analyzer string) (bleve.Index, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	if err := m.AddCustomAnalyzer("features", map[string]any{"type": custom.Name, "tokenizer": "features"}); err != nil {
		return nil, err
	}
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeTermVectors, text.DocValues, text.IncludeInAll = analyzer, false,
		false, false, false
	m.DefaultMapping.Dynamic = false
	m.DefaultMapping.AddFieldMappingsAt("text", text)
	return bleve.New(dir, m)
}

// TestKeywordIngest measures the CPU time of ragctx's keyword index to index chunks and load its
// posting lists. It compares with bleve with the same features, and with bleve's analyzer "en", which
// indexes words only.
func TestKeywordIngest(t *testing.T) {
	if *ingest == "" {
		t.Skip("-ingest names a folder of chunks")
	}
	if err := registry.RegisterTokenizer("features",
		func(map[string]any, *registry.Cache) (bleveanalysis.Tokenizer, error) {
			return features{}, nil
		}); err != nil {
		t.Fatal(err)
	}
	var units []index.TextChunk
	texts := map[string]uint64{}
	if err := lines(filepath.Join(*ingest, "chunks.jsonl"), func(c chunkLine) error {
		if _, ok := texts[c.Doc]; !ok {
			texts[c.Doc] = uint64(len(texts) + 1)
		}
		units = append(units, index.TextChunk{ID: uint64(len(units) + 1), Item: texts[c.Doc], Text: c.Text})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ours, same, words := byRagctx(t, units), byBleve(t, units, "features"), byBleve(t, units, "en")
		t.Logf("%d chunks: ragctx %.1f s, bleve with the same features %.1f s (%.2f times as much), with words alone %.1f s",
			len(units), ours.Seconds(), same.Seconds(), float64(ours)/float64(same), words.Seconds())
	}
}

func byRagctx(t *testing.T, units []index.TextChunk) time.Duration {
	t.Helper()
	ix, err := keyword.Open(t.TempDir(), keyword.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := processor()
	for from := 0; from < len(units); {
		to := min(from+500, len(units))
		for to < len(units) && units[to].Item == units[to-1].Item {
			to++
		}
		if err := ix.Apply(t.Context(), uint64(to), units[from:to], nil); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	if err := ix.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for ix.Stats().Words.Chunks < len(units) && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	return processor() - before
}

func byBleve(t *testing.T, units []index.TextChunk, analyzer string) time.Duration {
	t.Helper()
	ix, err := bleveOf(filepath.Join(t.TempDir(), "bleve"), analyzer)
	if err != nil {
		t.Fatal(err)
	}
	before := processor()
	for from := 0; from < len(units); from += 1000 {
		b := ix.NewBatch()
		for _, u := range units[from:min(from+1000, len(units))] {
			if err := b.Index(strconv.FormatUint(u.ID, 10), map[string]any{"text": u.Text}); err != nil {
				t.Fatal(err)
			}
		}
		if err := ix.Batch(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	return processor() - before
}
