package keyword

import (
	"fmt"
	"sync"
)

// Frequencies caches in how many chunks each feature is, for an index that asks another process. They are asked again after a
// twentieth of the chunks beyond the first 1,000 has changed. Zeros are not kept: an index leaves out the features that no chunk has, so
// it would not find the first chunk that gets one. The zero value is empty.
type Frequencies[N comparable] struct {
	mu      sync.Mutex
	known   map[string]N
	chunks  int64 // when the cache was empty
	changes int
}

// maxFrequencies bounds the cached features. Up to exactFrequencies chunks they are always exact.
const (
	maxFrequencies   = 100_000
	exactFrequencies = 1_000
)

// Changed counts changed chunks.
func (c *Frequencies[N]) Changed(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes += n; int64(c.changes) > max(0, c.chunks-exactFrequencies)/20 || len(c.known) > maxFrequencies {
		c.known, c.changes = nil, 0
	}
}

// Of returns the numbers of each feature in an index of so many chunks. It asks for those that it lacks.
func (c *Frequencies[N]) Of(features []string, chunks int64, ask func(lacking []string) ([]N, error)) ([]N, error) {
	found := make([]N, len(features))
	var lacking []string
	var at []int
	c.mu.Lock()
	if c.known == nil {
		c.known, c.chunks = make(map[string]N), chunks
	}
	known := c.known
	for i, f := range features {
		n, ok := known[f]
		if found[i] = n; !ok {
			lacking, at = append(lacking, f), append(at, i)
		}
	}
	c.mu.Unlock()
	if len(lacking) == 0 {
		return found, nil
	}
	asked, err := ask(lacking)
	if err == nil && len(asked) != len(lacking) {
		err = fmt.Errorf("keyword: %d of %d features were counted", len(asked), len(lacking))
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, i := range at {
		found[i] = asked[n]
		if asked[n] != *new(N) {
			known[features[i]] = asked[n] // of a cache that may have been replaced
		}
	}
	return found, nil
}
