package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// exporter writes a [dataset]: documents, their chunks as ragctx cuts them at ingest, and the
// vectors of the built-in table.
type exporter struct {
	ctx      context.Context
	to       dataset
	embedder embed.Embedder
	about    info
	files    []*bufio.Writer
	closers  []func() error

	docs, chunks, queries      *json.Encoder
	chunkVectors, queryVectors *bufio.Writer
}

func newExporter(ctx context.Context, out string) (*exporter, error) {
	x := &exporter{ctx: ctx, to: dataset(out), embedder: builtin.Default()}
	id := x.embedder.Identity()
	x.about.Dim, x.about.Embedder = id.Dimensions, id.Name+" "+id.Revision
	if err := os.MkdirAll(out, 0o750); err != nil {
		return nil, err
	}
	for _, name := range []string{"docs.jsonl", "chunks.jsonl", "queries.jsonl", "chunks.f32", "queries.f32"} {
		f, err := os.Create(x.to.path(name))
		if err != nil {
			return nil, errors.Join(err, x.close())
		}
		x.files, x.closers = append(x.files, bufio.NewWriterSize(f, 1<<20)), append(x.closers, f.Close)
	}
	x.docs, x.chunks, x.queries = json.NewEncoder(x.files[0]), json.NewEncoder(x.files[1]), json.NewEncoder(x.files[2])
	x.chunkVectors, x.queryVectors = x.files[3], x.files[4]
	return x, nil
}

// close ends the export. A dataset without info.json is incomplete.
func (x *exporter) close() error {
	var errs []error
	for i, w := range x.files {
		errs = append(errs, w.Flush(), x.closers[i]())
	}
	return errors.Join(errs...)
}

func (x *exporter) finish() error {
	if err := x.close(); err != nil {
		return err
	}
	return writeJSON(x.to.path("info.json"), x.about)
}

// document adds a document and returns its chunks. It skips documents that ragctx rejects, such as
// empty ones.
func (x *exporter) document(d document) ([]string, error) {
	p, err := docs.Prepare(ragctx.Document{ExternalID: d.ID, Title: d.Title, Text: d.Text}, docs.Options{})
	if err != nil {
		return nil, nil //nolint:nilerr // as an ingest does
	}
	texts := make([]string, len(p.Chunks))
	bare := make([]string, len(p.Chunks))
	for i, c := range p.Chunks {
		texts[i], bare[i] = store.EmbedText(p.Title, c.Heading, c.Text), c.Text
		if err := x.chunks.Encode(chunkLine{d.ID, i, d.Scope, texts[i]}); err != nil {
			return nil, err
		}
	}
	vectors, err := x.embedder.EmbedDocuments(x.ctx, texts)
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		if err := x.vector(x.chunkVectors, v); err != nil {
			return nil, err
		}
	}
	x.about.Docs++
	x.about.Chunks += len(texts)
	return bare, x.docs.Encode(d)
}

func (x *exporter) query(id, text, scope string) error {
	v, err := x.embedder.EmbedQuery(x.ctx, text)
	if err != nil {
		return err
	}
	x.about.Queries++
	return errors.Join(x.queries.Encode(queryLine{id, text, scope, v != nil}), x.vector(x.queryVectors, v))
}

// vector writes a vector. If the table has none, as for text in an unsupported script, it writes a
// vector that is near no other, because most systems require one for every chunk. Queries without a
// vector are asked by keywords only.
func (x *exporter) vector(w *bufio.Writer, v []float32) error {
	if v == nil {
		v = slices.Repeat([]float32{float32(1 / math.Sqrt(float64(x.about.Dim)))}, x.about.Dim)
	}
	return binary.Write(w, binary.LittleEndian, v)
}
