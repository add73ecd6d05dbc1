package passage

import (
	"context"
	"maps"
)

// Loaded is a source that reads each chunk once. A search that requests more and more hits finds most of
// them again.
type Loaded struct {
	Source

	chunks map[uint64]Chunk
	items  map[uint64]*Item
}

// NewLoaded returns a source of one search. It is not safe for concurrent use.
func NewLoaded(src Source) *Loaded {
	return &Loaded{Source: src, chunks: make(map[uint64]Chunk), items: make(map[uint64]*Item)}
}

// Chunks implements [Source].
func (l *Loaded) Chunks(ctx context.Context, ids []uint64) ([]Chunk, map[uint64]*Item, error) {
	var missing []uint64
	for _, id := range ids {
		if _, ok := l.chunks[id]; !ok {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		chunks, items, err := l.Source.Chunks(ctx, missing)
		if err != nil {
			return nil, nil, err
		}
		for _, u := range chunks {
			l.chunks[u.ID] = u
		}
		maps.Copy(l.items, items)
	}
	found := make([]Chunk, 0, len(ids))
	for _, id := range ids {
		if u, ok := l.chunks[id]; ok {
			found = append(found, u)
		}
	}
	return found, l.items, nil
}
