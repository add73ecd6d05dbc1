package bench

import (
	"context"
	"time"
)

// Fill writes generated documents through a server, as fast as it accepts them. The number of
// documents depends only on the number of chunks requested, so every measurement writes the same
// ones. The number of chunks is approximate.
func Fill(ctx context.Context, o FillOptions) (Written, error) {
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	if o.Usage == nil {
		o.Usage = func() Usage { return Usage{} }
	}
	client := newClient(freeWriters, DefaultTimeout)
	defer client.CloseIdleConnections()
	w := newWriter(client, o.URL, o.Namespace, o.Seed)
	w.pool = 0
	before := o.Usage()
	got := w.writeUnpaced(ctx, max(1, (o.Chunks+generatedChunks/2)/generatedChunks), o.Progress)
	out := *writtenOf(0, got)
	out.perChunk(o.Usage().CPU - before.CPU)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	return out, got.first
}

// FillOptions are the options of [Fill]. URL and Chunks are required.
type FillOptions struct {
	URL       string
	Namespace string // "" is the default namespace
	Chunks    int
	Seed      uint64
	Usage     func() Usage
	// Progress receives the number of chunks written so far. It is called from several goroutines.
	Progress func(chunks int)
}

// perChunk sets the CPU time that the server's process used per chunk.
func (w *Written) perChunk(cpu time.Duration) {
	if cpu > 0 && w.Chunks > 0 {
		w.CPU = millis(cpu) / float64(w.Chunks)
	}
}
