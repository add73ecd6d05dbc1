package main

import (
	"context"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/philippgille/chromem-go"
)

// chromemPeer is chromem-go. It compares the query with all vectors and supports words only as a
// filter.
type chromemPeer struct{ all *chromem.Collection }

func (p *chromemPeer) setup() (version, text string, modes []string) {
	return versionOf("github.com/philippgille/chromem-go"),
		"`NewPersistentDB`, exact; scope as a filter on metadata", []string{"vector"}
}

func (p *chromemPeer) ingest(ctx context.Context, set dataset) error {
	return set.chunks(1000, func(number int, cs []chunkLine, vs [][]float32) error {
		batch := make([]chromem.Document, len(cs))
		for i, c := range cs {
			batch[i] = chromem.Document{
				ID: strconv.Itoa(number + i), Content: c.Text, Embedding: vs[i],
				Metadata: map[string]string{"scope": c.Scope},
			}
		}
		return p.all.AddDocuments(ctx, batch, runtime.NumCPU())
	})
}

func (p *chromemPeer) open(_ context.Context, store string) error {
	db, err := chromem.NewPersistentDB(filepath.Join(store, "chromem"), false)
	if err != nil {
		return err
	}
	p.all, err = db.GetOrCreateCollection("chunks", nil, nil)
	return err
}

func (p *chromemPeer) search(ctx context.Context, q question, k int) ([]any, error) {
	if q.Vector == nil {
		return nil, nil
	}
	var where map[string]string
	if q.Scope != "" {
		where = map[string]string{"scope": q.Scope}
	}
	found, err := p.all.QueryEmbedding(ctx, q.Vector, min(k, p.all.Count()), where, nil)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(found))
	for i, h := range found {
		if out[i], err = strconv.Atoi(h.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *chromemPeer) close() error { return nil }
