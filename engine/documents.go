package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/chunk"
	"github.com/ragctx/ragctx/passage"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/store"
)

// PutDocument stores a document; it can be found when PutDocument returns. The
// same content again changes nothing, other content makes a new version. root
// names what a file was ingested from; "" for a document that came alone.
func (e *Engine) PutDocument(ctx context.Context, namespace string, d docs.Document, root string) (store.Put, error) {
	if err := ragctx.ValidText("root", root); err != nil {
		return store.Put{}, err
	}
	if err := docs.Validate(d, docs.Options{}); err != nil {
		return store.Put{}, err
	}
	d.Source = cmp.Or(d.Source, "docs:"+d.ExternalID)
	ns, err := e.namespace(ctx, namespace, true)
	if err != nil {
		return store.Put{}, err
	}
	hash := docs.ContentHash(d)
	put, same, err := e.store.Has(ctx, ns, d.ExternalID, hash[:], root)
	if err != nil {
		return store.Put{}, err
	}
	if same { // perhaps written this very moment by another caller
		return put, e.collections.catchUp(ctx, store.Collection{Namespace: ns, Kind: store.Documents}, put.Seq)
	}
	p, err := docs.Prepare(d, docs.Options{})
	if err != nil {
		return store.Put{}, err
	}
	content := store.Content{
		Text: p.Text, Abstract: p.Abstract, Outline: p.Outline, Chunker: p.Chunker,
	}
	if err := e.embed(ctx, &content, p.Title, p.Chunks); err != nil {
		return store.Put{}, err
	}
	put, err = e.store.PutDocument(ctx, ns, p, root, content)
	if err != nil {
		return store.Put{}, err
	}
	return put, e.collections.catchUp(ctx, store.Collection{Namespace: ns, Kind: store.Documents}, put.Seq)
}

// embed fills in the units of a content with their vectors. Texts that were
// embedded before are not embedded again. An embedder that fails costs the
// vectors, not the write: the keyword leg finds the text all the same.
func (e *Engine) embed(ctx context.Context, c *store.Content, title string, chunks []chunk.Chunk) error {
	c.Embedder = e.embedderID
	c.Units = make([]store.Unit, len(chunks))
	keys := make([]store.VectorKey, len(chunks))
	texts := make([]string, len(chunks))
	for i, ch := range chunks {
		texts[i] = ch.Text
		if t := store.IndexTitle(title, ch.Heading); t != "" {
			texts[i] = t + "\n" + ch.Text
		}
		keys[i] = store.KeyOf(texts[i])
		c.Units[i] = store.Unit{Chunk: ch, Hash: keys[i]}
	}
	known, err := e.store.Vectors(ctx, e.embedderID, keys)
	if err != nil {
		return err
	}
	var missing []int
	var batch []string
	for i := range texts {
		if v, ok := known[keys[i]]; ok {
			c.Units[i].Vector = v
			continue
		}
		missing = append(missing, i)
		batch = append(batch, texts[i])
	}
	if len(batch) == 0 {
		return nil
	}
	vectors, err := e.embedder.EmbedDocuments(ctx, batch)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && len(vectors) != len(batch) {
		err = fmt.Errorf("embedder returned %d vectors for %d texts", len(vectors), len(batch))
	}
	if err != nil {
		e.opts.Logger.WarnContext(ctx, "embedder failed; stored without vectors", "embedder", e.embedder.Identity().String(), "error", err)
		return nil
	}
	for j, i := range missing {
		if usable(vectors[j], e.embedder.Identity().Dimensions) {
			c.Units[i].Vector = vectors[j]
		}
	}
	return nil
}

// usable reports whether a vector that came from an embedder can be stored.
func usable(v []float32, dim int) bool {
	if len(v) != dim {
		return false
	}
	for _, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

// DeleteDocument removes a document from every answer at once. Questions about
// an earlier time (as_of) still find it.
func (e *Engine) DeleteDocument(ctx context.Context, namespace, id string) error {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return err
	}
	seq, err := e.store.DeleteDocument(ctx, ns, id)
	if err != nil {
		return err
	}
	return e.collections.catchUp(ctx, store.Collection{Namespace: ns, Kind: store.Documents}, seq)
}

// Document returns a document and its text; version 0 is the current one.
func (e *Engine) Document(ctx context.Context, namespace, id string, version int) (store.Document, string, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return store.Document{}, "", err
	}
	return e.store.Document(ctx, ns, id, version)
}

// DocumentUnits returns the chunks that a version of a document was cut into;
// version 0 is the current one.
func (e *Engine) DocumentUnits(ctx context.Context, namespace, id string, version int) ([]passage.Unit, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	return e.store.DocumentUnits(ctx, ns, id, version)
}

// Limits of a page of a list.
const (
	DefaultPage = 100
	MaxPage     = 1000
)

// ListDocuments returns a page of documents in order of their ids. A namespace
// that does not exist is empty.
func (e *Engine) ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error) {
	if o.Limit == 0 {
		o.Limit = DefaultPage
	}
	if o.Limit < 1 || o.Limit > MaxPage {
		return nil, ragctx.Invalid("limit", "is %d; use 1 to %d", o.Limit, MaxPage)
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return []store.Document{}, nil
	}
	if err != nil {
		return nil, err
	}
	return e.store.ListDocuments(ctx, ns, o)
}

// Passage returns the text that an item id (document@version#ordinal) cites.
func (e *Engine) Passage(ctx context.Context, namespace, id string) (passage.Unit, error) {
	key, version, ordinal, ok := passage.ParseItemID(id)
	if !ok {
		return passage.Unit{}, ragctx.Invalid("id", "%q is not of the form document@version#ordinal", ragctx.Clip(id))
	}
	units, err := e.DocumentUnits(ctx, namespace, key, version)
	if err != nil {
		return passage.Unit{}, err
	}
	if ordinal >= len(units) {
		return passage.Unit{}, fmt.Errorf("passage %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return units[ordinal], nil
}
