package index_test

import (
	"context"
	"slices"
	"sync"

	"github.com/ragctx/ragctx/index"
)

// history is a feed: what happened, batch by batch.
type history struct {
	mu      sync.Mutex
	batches []index.Batch
	broken  error
	asked   []index.Want
}

var _ index.Feed = (*history)(nil)

func (f *history) add(b index.Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batches = append(f.batches, b)
}

// All gives what is left after all batches.
func (f *history) All(_ context.Context, apply func(index.Batch) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	removed := make(map[uint64]bool)
	ended := make(map[uint64]index.End)
	var all index.Batch
	for _, b := range f.batches {
		all.Seq = b.Seq
		for _, r := range b.Removed {
			removed[r.Item] = true
		}
		for _, e := range b.Ended {
			ended[e.Item] = e
		}
	}
	for _, b := range f.batches {
		for _, e := range b.Add {
			if removed[e.Item.ID] {
				continue
			}
			p := *e.Item
			if end, ok := ended[p.ID]; ok {
				p.Superseded, p.Ended = end.At, end.Seq
			}
			e.Item, e.Text, e.Title, e.Vector = &p, "", "", nil
			all.Add = append(all.Add, e)
		}
	}
	if f.broken != nil {
		return f.broken
	}
	return apply(all)
}

// Follow gives the next batch, with what is wanted.
func (f *history) Follow(_ context.Context, after uint64, want index.Want) (index.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, want)
	if f.broken != nil {
		return index.Batch{Seq: after}, f.broken
	}
	for _, b := range f.batches {
		if b.Seq <= after {
			continue
		}
		var add []index.Chunk
		for _, e := range b.Add {
			if f.removed(e.Item.ID) {
				continue // nothing of it is left
			}
			if !want.Texts {
				e.Title, e.Text = "", ""
			}
			add = append(add, e)
		}
		b.Add = add
		if b.Seq%2 == 0 {
			b = later(b)
		}
		return b, nil
	}
	return index.Batch{Seq: after}, nil
}

func (f *history) removed(parent uint64) bool {
	for _, b := range f.batches {
		for _, r := range b.Removed {
			if r.Item == parent {
				return true
			}
		}
	}
	return false
}

// later returns a batch whose vectors are asked for, as those of a long text are.
func later(b index.Batch) index.Batch {
	vectors := make(map[uint64][]float32)
	strip := func(list []index.Chunk) []index.Chunk {
		list = slices.Clone(list)
		for i := range list {
			vectors[list[i].ID], list[i].Vector = list[i].Vector, nil
		}
		return list
	}
	b.Add, b.Revised = strip(b.Add), strip(b.Revised)
	b.Vectors = func(_ context.Context, some []index.Chunk) error {
		for i := range some {
			some[i].Vector = vectors[some[i].ID]
		}
		return nil
	}
	return b
}
