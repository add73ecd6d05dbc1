package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// minFileAge is the minimum age of a modification time that reliably identifies a file's content: some
// file systems have a time resolution of two seconds.
const minFileAge = 2 * time.Second

// readingHash returns a hash of the options that affect how files are read and described, so that
// changed options cause a new reading.
func (o IngestOptions) readingHash() string {
	how := struct {
		Docs, Extract    string
		Tags             []string
		Metadata         map[string]any
		Include, Exclude []string // they also select files inside archives, which any file may be
		WholePath        string   // likewise
		Hidden           bool
		Chunk            ragctx.ChunkSizes
	}{docs.Version, extract.Version, o.Tags, o.Metadata, o.Walk.Include, o.Walk.Exclude, o.Walk.WholePath, o.Walk.Hidden, o.Chunk}
	b, err := json.Marshal(how)
	if err != nil { // metadata that JSON cannot express; each document will be rejected for it
		return ""
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:8])
}

// state returns the state of a file; "" if it is unreliable, because the file could change without
// a new modification time.
func (r *localSource) state(f docs.File) string {
	now := time.Now
	if r.opts.Now != nil {
		now = r.opts.Now
	}
	written := f.Info.ModTime()
	if r.readingHash == "" || now().Sub(written) < minFileAge {
		return ""
	}
	return fmt.Sprintf("%s %d %d %s", r.readingHash, f.Info.Size(), written.UnixNano(), inode(f.Info))
}
