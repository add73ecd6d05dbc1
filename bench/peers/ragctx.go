package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// ragctxPeer is ragctx as a library. It receives documents, and cuts and embeds them and the
// questions itself. Its times therefore include work that the other systems are spared.
type ragctxPeer struct{ engine *engine.Engine }

func (p *ragctxPeer) setup() (version, text string, modes []string) {
	return "", "in process, `engine.Hits`; a namespace for each scope", []string{"keyword", "vector", "hybrid"}
}

// lanes is the number of concurrent writes.
const lanes = 8

func (p *ragctxPeer) ingest(ctx context.Context, set dataset) error {
	var about info
	if err := readJSON(set.path("info.json"), &about); err != nil {
		return err
	}
	var chunks atomic.Int64
	g, in := errgroup.WithContext(ctx)
	g.SetLimit(lanes)
	err := set.docs(func(d document) error {
		g.Go(func() error {
			put, err := p.engine.Documents().Put(in, d.Scope, ragctx.Document{ExternalID: d.ID, Title: d.Title, Text: d.Text}, "")
			chunks.Add(int64(put.Chunks))
			return err
		})
		return in.Err()
	})
	if e := g.Wait(); e != nil {
		err = e
	}
	if err == nil && chunks.Load() != int64(about.Chunks) {
		err = fmt.Errorf("ragctx made %d chunks, the others are given %d", chunks.Load(), about.Chunks)
	}
	if err == nil {
		err = p.settled(ctx)
	}
	return err
}

// settled waits until the vector graph has all vectors.
func (p *ragctxPeer) settled(ctx context.Context) error {
	for {
		status, err := p.engine.Indexes().Status(ctx)
		if err != nil {
			return err
		}
		var waiting int
		for _, x := range status.Indexes {
			waiting += x.Waiting
		}
		if waiting == 0 {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func (p *ragctxPeer) open(ctx context.Context, store string) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	p.engine, err = engine.Open(ctx, engine.Options{Dir: filepath.Join(store, "data"), Logger: log, AnswerCache: -1})
	return err
}

// search asks until the answer is complete. After a start an index may be degraded.
func (p *ragctxPeer) search(ctx context.Context, q question, k int) ([]any, error) {
	var ranking index.Ranking
	if q.Mode != "hybrid" {
		ranking.Method = q.Mode
	}
	for {
		hits, degraded, err := p.engine.Indexes().Hits(ctx, ragctx.ContextQuery{Query: q.Text, Namespace: q.Scope},
			engine.HitsOptions{Kind: store.KindDocuments, K: k, Ranking: ranking})
		if err == nil && len(degraded) > 0 {
			if err := pause(ctx); err != nil {
				return nil, err
			}
			continue
		}
		out := make([]any, len(hits))
		for i, h := range hits {
			out[i] = [2]any{h.Key, h.Ordinal}
		}
		return out, err
	}
}

// pause waits between two checks of something that is not ready.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Millisecond):
		return nil
	}
}

func (p *ragctxPeer) close() error {
	if p.engine == nil {
		return nil
	}
	return p.engine.Close()
}
