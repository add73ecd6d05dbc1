package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// Put stores a document; queries find it when PutDocument returns. Equal content changes
// nothing, different content makes a new version. root names the source that the document was
// ingested from; "" for none. A text of a MIME type that is not stored as it is (a web page, a notebook,
// a mail) is converted.
func (e Documents) Put(ctx context.Context, namespace string, d ragctx.Document, root string) (store.Put, error) {
	return e.putDocument(ctx, namespace, d, root, store.Condition{})
}

func (e *core) putDocument(
	ctx context.Context, namespace string, d ragctx.Document, root string, when store.Condition,
) (store.Put, error) {
	if err := canModifyShared(ctx); err != nil {
		return store.Put{}, err
	}
	if err := ragctx.ValidText("root", root); err != nil {
		return store.Put{}, err
	}
	if err := docs.Validate(d, docs.Options{}); err != nil {
		return store.Put{}, err
	}
	d, err := e.convert(ctx, d)
	if err != nil {
		return store.Put{}, err
	}
	d.Source = cmp.Or(d.Source, "docs:"+d.ExternalID)
	missing := when.CheckMissing("document", d.ExternalID)
	ns, err := e.namespace(ctx, namespace, missing == nil)
	if isNotFound(err) {
		err = missing
	}
	if err != nil {
		return store.Put{}, err
	}
	hash := docs.ContentHash(d)
	put, same, err := e.store.Has(ctx, ns, d.ExternalID, hash[:], root)
	if err != nil {
		return store.Put{}, err
	}
	if same && when.IsZero() { // another caller may have written it just now
		return put, e.collections.CatchUp(ctx, store.Collection{Namespace: ns, Kind: store.KindDocuments}, put.Seq)
	}
	defer e.priority.beginRequest()()
	e.priority.yield(ctx)
	p, err := docs.PrepareChecked(d, hash, docs.Options{})
	if err != nil {
		return store.Put{}, err
	}
	content := store.Content{
		Text: p.Text, Abstract: p.Abstract, Outline: p.Outline, Chunker: p.Chunker,
	}
	e.prepareEmbedding(&content, p.Title, p.Chunks)
	p.Chunks = nil // content.Units has them
	e.priority.yield(ctx)
	put, err = e.store.PutDocument(ctx, ns, p, root, content, when)
	if err != nil {
		return store.Put{}, err
	}
	e.priority.yield(ctx)
	return put, e.collections.CatchUp(ctx, store.Collection{Namespace: ns, Kind: store.KindDocuments}, put.Seq)
}

// Delete removes a document from all answers at once. Queries about an earlier time (as_of)
// still find it.
func (e Documents) Delete(ctx context.Context, namespace, id string) error {
	return e.If(store.Condition{}).DeleteDocument(ctx, namespace, id)
}

// DeleteIfVersion is [Documents.Delete], provided the document is still the version and root that
// f names. Otherwise it stays, and the error is [ragctx.ErrNotFound].
func (e Documents) DeleteIfVersion(ctx context.Context, namespace string, f store.FileState) error {
	return e.removeDocument(ctx, namespace, func(ns int64) (uint64, error) { return e.store.DropDocument(ctx, ns, f) })
}

func (e *core) removeDocument(ctx context.Context, namespace string, end func(ns int64) (uint64, error)) error {
	if err := canModifyShared(ctx); err != nil {
		return err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return err
	}
	seq, err := end(ns)
	if err != nil {
		return err
	}
	return e.collections.CatchUp(ctx, store.Collection{Namespace: ns, Kind: store.KindDocuments}, seq)
}

// Get returns a document and its text; version 0 is the current one.
func (e Documents) Get(ctx context.Context, namespace, id string, version int) (store.Document, string, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return store.Document{}, "", err
	}
	return e.store.Document(ctx, ns, id, version)
}

// Chunks returns the chunks of a document version; version 0 is the current one.
func (e Documents) Chunks(ctx context.Context, namespace, id string, version int) ([]passage.Chunk, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return nil, err
	}
	return e.store.DocumentChunks(ctx, ns, id, version)
}

// Limits of the length of a page.
const (
	DefaultPage = 100
	MaxPage     = 1000
	// mostListed is one more than a page, so that a caller can see whether another page follows.
	mostListed = MaxPage + 1
)

// pageLimit fills in the default page length and validates it.
func pageLimit(limit *int) error {
	if *limit == 0 {
		*limit = DefaultPage
	}
	if *limit < 1 || *limit > mostListed {
		return ragctx.Invalid("limit", "is %d; use 1 to %d", *limit, mostListed)
	}
	return nil
}

// List returns a page of documents, ordered by id. A namespace that does not exist is
// empty.
func (e Documents) List(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error) {
	if err := pageLimit(&o.Limit); err != nil {
		return nil, err
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

// Passage returns the chunk that an item id (document@version#ordinal) cites.
func (e Documents) Passage(ctx context.Context, namespace, id string) (passage.Chunk, error) {
	key, version, ordinal, ok := passage.ParseItemID(id)
	if !ok {
		return passage.Chunk{}, ragctx.Invalid("id", "%q is not of the form document@version#ordinal", ragctx.Clip(id))
	}
	chunks, err := e.Documents().Chunks(ctx, namespace, key, version)
	if err != nil {
		return passage.Chunk{}, err
	}
	if ordinal >= len(chunks) {
		return passage.Chunk{}, fmt.Errorf("passage %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return chunks[ordinal], nil
}

// RecordFileStates records the file states in which documents were read; see [store.Documents].
func (e Documents) RecordFileStates(ctx context.Context, namespace string, files []store.FileState) error {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return err
	}
	return e.store.RecordFiles(ctx, ns, files)
}
