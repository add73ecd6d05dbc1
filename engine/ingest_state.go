package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// settled is how long ago a file must have been written for its time to tell it
// from what it was before: some file systems count time in steps of two seconds.
const settled = 2 * time.Second

// reading identifies how files are read, what of them, and what is said of their
// documents, so that other options have them read again.
func (o IngestOptions) reading() string {
	how := struct {
		Docs, Extract    string
		Tags             []string
		Metadata         map[string]any
		Include, Exclude []string // also of what is in an archive, which any file may be
		WholePath        string   // likewise
		Hidden           bool
		Chunk            chunk.Options
	}{docs.Version, extract.Version, o.Tags, o.Metadata, o.Walk.Include, o.Walk.Exclude, o.Walk.WholePath, o.Walk.Hidden, o.Chunk}
	b, err := json.Marshal(how)
	if err != nil { // metadata that JSON cannot express; each document is refused for it
		return ""
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:8])
}

// state returns the state of a file; "" if it cannot be trusted, because the file
// could still change without a new time.
func (r *place) state(f docs.File) string {
	now := time.Now
	if r.opts.Now != nil {
		now = r.opts.Now
	}
	written := f.Info.ModTime()
	if r.reading == "" || now().Sub(written) < settled {
		return ""
	}
	return fmt.Sprintf("%s %d %d %s", r.reading, f.Info.Size(), written.UnixNano(), inode(f.Info))
}
