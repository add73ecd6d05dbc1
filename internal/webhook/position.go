package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// Limits of the file of positions.
const (
	saveEvery = time.Second
	maxFile   = 1 << 20
)

// position is how far a webhook came.
type position struct {
	Sequence uint64 `json:"sequence"` // of the last event that was sent or given up
	// Complete means that the webhook was closed after it had sent everything.
	Complete bool `json:"complete,omitempty"`
}

// positions are the positions of all webhooks, in a file. It is written once a second at most. Events are not stored,
// so after a crash a webhook is told that events since its position are lost.
type positions struct {
	file string

	mu    sync.Mutex
	byKey map[string]position
	saved time.Time
}

func openPositions(file string) (*positions, error) {
	p := &positions{file: file, byKey: make(map[string]position)}
	b, err := atomicfile.ReadFile(atomicfile.OS{}, file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &p.byKey)
	}
	if err != nil {
		return nil, ragctx.Invalid("positions", "cannot be read from %s: %v; delete the file to start with new events", file, err)
	}
	return p, nil
}

func (p *positions) get(name string) (position, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.byKey[name]
	return at, ok
}

// set changes a position, and writes the file if the last time is long ago.
func (p *positions) set(name string, at position, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byKey[name] = at
	if d := now.Sub(p.saved); d >= 0 && d < saveEvery {
		return nil
	}
	p.saved = now
	return p.write()
}

// save changes a position, and writes the file.
func (p *positions) save(name string, at position) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byKey[name] = at
	return p.write()
}

func (p *positions) write() error {
	return atomicfile.WriteFile(atomicfile.OS{}, p.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(p.byKey) })
}
