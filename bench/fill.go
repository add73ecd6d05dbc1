package bench

import (
	"context"
	"time"
)

// Fill writes generated documents through a server, as fast as it takes them. How
// many there are depends on how many chunks are wanted and on nothing else, so that
// the same are measured each time; their chunks are about as many.
func Fill(ctx context.Context, o FillOptions) (Written, error) {
	if o.Tell == nil {
		o.Tell = func(int) {}
	}
	if o.Usage == nil {
		o.Usage = func() Usage { return Usage{} }
	}
	client := newClient(freeWriters, DefaultTimeout)
	defer client.CloseIdleConnections()
	w := newWriter(client, o.URL, o.Namespace, o.Seed)
	w.pool = 0
	before := o.Usage()
	got := w.free(ctx, max(1, (o.Chunks+generatedChunks/2)/generatedChunks), o.Tell)
	out := *writtenOf(0, got)
	out.perChunk(o.Usage().CPU - before.CPU)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	return out, got.first
}

// FillOptions says what [Fill] writes. URL and Chunks are required.
type FillOptions struct {
	URL       string
	Namespace string // "" is the default one
	Chunks    int
	Seed      uint64
	Usage     func() Usage
	// Tell is called from several goroutines.
	Tell func(chunks int)
}

// perChunk notes what the server's process used meanwhile.
func (w *Written) perChunk(cpu time.Duration) {
	if cpu > 0 && w.Chunks > 0 {
		w.CPU = millis(cpu) / float64(w.Chunks)
	}
}
