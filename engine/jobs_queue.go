package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// Limits of a bulk request.
const (
	DefaultMaxBulkItems = 1_000_000
	DefaultMaxBulkBytes = 4 << 30
)

// Items are written to the store in transactions of about this size.
const (
	queueBatchItems = 256
	queueBatchBytes = 1 << 20
)

// DocumentQueueOptions configures a [DocumentQueue]. The zero value is valid.
type DocumentQueueOptions struct {
	ID        string // of the job; "" generates one
	Namespace string
	MaxItems  int   // 0 is [DefaultMaxBulkItems]
	MaxBytes  int64 // of all texts together; 0 is [DefaultMaxBulkBytes]
	// Before, if not nil, is called after all items are stored, before a job with items is queued;
	// its error rejects the job.
	Before func() error
}

// DocumentQueue receives the items of a job, document by document. They are written to disk, but not
// processed until [DocumentQueue.Accept]; otherwise [DocumentQueue.Close] removes them. It is not safe for
// concurrent use. The caller must call Close.
//
// An invalid item gets its own error, which is not returned. A returned error ends the spool:
// limits of the whole request, and errors of the store.
type DocumentQueue struct {
	engine *core
	opts   DocumentQueueOptions
	job    store.Job
	tally  store.JobTotals
	closed bool // accepted or closed

	batch []queuedItem
	size  int64
}

// queuedItem is an item and its document.
type queuedItem struct {
	store.JobItem

	doc *ragctx.Document
	put putBody
}

// putBody is the body of an item that puts a document.
type putBody struct {
	Text      string            `json:"text"`
	Title     string            `json:"title,omitempty"`
	Source    string            `json:"source,omitempty"`
	MIME      string            `json:"mime,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	Metadata  map[string]any    `json:"metadata,omitempty"`
	Occurred  time.Time         `json:"occurred,omitzero"`
	Root      string            `json:"root,omitempty"`
	MovedFrom string            `json:"moved_from,omitempty"`
	Stat      string            `json:"stat,omitempty"`
	Chunk     ragctx.ChunkSizes `json:"chunk,omitzero"`
}

// deleteBody is the body of an item that deletes one version of a document.
type deleteBody struct {
	Root    string `json:"root"`
	Version int    `json:"version"`
}

// Origin is where a document comes from. The zero value is unknown.
type Origin struct {
	Root string // the source that it was ingested from
	// MovedFrom is the source that the document may be taken over from; "" for none.
	MovedFrom string
	// Stat is the state of the document's file, recorded with the document; see [store.FileState].
	Stat string
}

func (o Origin) valid() error {
	return errors.Join(ragctx.ValidText("root", o.Root), ragctx.ValidText("moved_from", o.MovedFrom),
		ragctx.ValidName("stat", o.Stat))
}

func (p putBody) document(id string) ragctx.Document {
	return ragctx.Document{
		ExternalID: id, Text: p.Text, Title: p.Title, Source: p.Source, MIME: p.MIME,
		Tags: p.Tags, Metadata: p.Metadata, Occurred: p.Occurred, Chunk: p.Chunk,
	}
}

// QueueDocuments begins a job that stores and deletes documents.
func (e Jobs) QueueDocuments(ctx context.Context, o DocumentQueueOptions) (*DocumentQueue, error) {
	o.MaxItems = cmp.Or(o.MaxItems, DefaultMaxBulkItems)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBulkBytes)
	o.Namespace = namespaceName(o.Namespace)
	if err := ragctx.ValidName("namespace", o.Namespace); err != nil {
		return nil, err
	}
	if err := canEnter(ctx, o.Namespace); err != nil {
		return nil, err
	}
	if err := canModifyShared(ctx); err != nil {
		return nil, err
	}
	s := &DocumentQueue{engine: e.core, opts: o, job: store.Job{
		ID: o.ID, Kind: store.JobDocuments, Namespace: o.Namespace, State: store.JobSpooling, Request: []byte("{}"),
	}}
	if s.job.ID == "" {
		s.job.ID = e.opts.NewID()
	}
	// The janitor must not consider it abandoned.
	e.jobs.receivingMu.RLock()
	defer e.jobs.receivingMu.RUnlock()
	if err := e.store.CreateJob(ctx, &s.job); err != nil {
		return nil, err
	}
	e.jobs.receiving.Store(s.job.N, true)
	return s, nil
}

// Put adds a document to store. n is its place in the request; it increases from item to item.
func (s *DocumentQueue) Put(ctx context.Context, n int, d ragctx.Document, from Origin) error {
	d.Source = cmp.Or(d.Source, "docs:"+d.ExternalID)
	i := queuedItem{JobItem: store.JobItem{
		N: n, Key: d.ExternalID, Op: store.OpPut, State: store.ItemPending,
		Bytes: int64(len(d.Text)),
	}, doc: &d}
	err := docs.Validate(d, docs.Options{})
	if err == nil {
		err = from.valid()
	}
	if err != nil {
		return s.Reject(ctx, n, store.OpPut, d.ExternalID, err)
	}
	i.put = putBody{
		Text: d.Text, Title: d.Title, Source: d.Source, MIME: d.MIME, Tags: d.Tags,
		Metadata: d.Metadata, Occurred: d.Occurred, Root: from.Root, MovedFrom: from.MovedFrom, Stat: from.Stat, Chunk: d.Chunk,
	}
	return s.add(ctx, i)
}

// Delete adds a document to delete.
func (s *DocumentQueue) Delete(ctx context.Context, n int, id string) error {
	return s.Drop(ctx, n, store.FileState{ID: id})
}

// Drop adds a document to delete if it still has the version and root of f; without a version, any
// version.
func (s *DocumentQueue) Drop(ctx context.Context, n int, f store.FileState) error {
	if err := ragctx.ValidName("id", f.ID); err != nil || f.ID == "" {
		return s.Reject(ctx, n, store.OpDelete, f.ID,
			cmp.Or(err, ragctx.Invalid("id", "is empty; name the document")))
	}
	i := store.JobItem{N: n, Key: f.ID, Op: store.OpDelete, State: store.ItemPending}
	if f.Version != 0 {
		var err error
		if i.Body, err = encodeBody(deleteBody{f.Root, f.Version}); err != nil {
			return err
		}
	}
	return s.add(ctx, queuedItem{JobItem: i})
}

// Reject adds an item that cannot be processed. A [ragctx.FieldError] names the field.
func (s *DocumentQueue) Reject(ctx context.Context, n int, op, id string, reason error) error {
	i := store.JobItem{N: n, Key: clipKey(id), Op: op, State: store.ItemFailed, Error: reason.Error()}
	if f, ok := errors.AsType[*ragctx.FieldError](reason); ok {
		i.Field, i.Error = f.Field, f.Problem
	}
	return s.add(ctx, queuedItem{JobItem: i})
}

// clipKey shortens an invalid id so that it can be stored and shown.
func clipKey(id string) string {
	if ragctx.ValidName("id", id) != nil {
		return ragctx.Clip(id)
	}
	return id
}

func (s *DocumentQueue) add(ctx context.Context, i queuedItem) error {
	if s.tally.Items+len(s.batch) >= s.opts.MaxItems {
		return ragctx.TooLarge("body", "has more than %d documents; split it into several requests", s.opts.MaxItems)
	}
	if s.tally.TotalBytes+s.size+i.Bytes > s.opts.MaxBytes {
		return ragctx.TooLarge("body", "has texts of more than %d bytes; split it into several requests",
			s.opts.MaxBytes)
	}
	s.batch, s.size = append(s.batch, i), s.size+i.Bytes
	if len(s.batch) >= queueBatchItems || s.size >= queueBatchBytes {
		return s.flush(ctx)
	}
	return nil
}

// flush writes the collected items.
func (s *DocumentQueue) flush(ctx context.Context) error {
	if len(s.batch) == 0 {
		return nil
	}
	if err := s.skipUnchanged(ctx); err != nil {
		return err
	}
	items := make([]store.JobItem, len(s.batch))
	for k, i := range s.batch {
		if i.State == store.ItemPending && i.Op == store.OpPut {
			var err error
			if i.Body, err = encodeBody(i.put); err != nil {
				return err
			}
		}
		items[k] = i.JobItem
	}
	if err := s.engine.jobs.writes.AddItems(ctx, s.job.N, items); err != nil {
		return err
	}
	for _, i := range items {
		s.tally.Add(i)
	}
	clear(s.batch)
	s.batch, s.size = s.batch[:0], 0
	return nil
}

// encodeBody encodes an item's body as JSON without HTML escapes.
func encodeBody(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, ragctx.Invalid("metadata", "cannot be stored as JSON: %v", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// skipUnchanged marks items that the store already has, so that sending a folder again does not
// write it. Documents with a pending item of any job are not marked: that job could change them
// first.
func (s *DocumentQueue) skipUnchanged(ctx context.Context) error {
	ns, err := s.engine.namespace(ctx, s.opts.Namespace, false)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	keys := make([]string, len(s.batch))
	for k, i := range s.batch {
		keys[k] = i.Key
	}
	pending, all, err := s.engine.store.PendingDocuments(ctx, s.opts.Namespace, keys)
	if err != nil || all {
		return err
	}
	var seq uint64
	var states []store.FileState
	for k := range s.batch {
		i := &s.batch[k]
		if i.doc == nil || pending[i.Key] {
			pending[i.Key] = pending[i.Key] || i.State == store.ItemPending
			continue
		}
		hash := docs.ContentHash(*i.doc)
		put, same, err := s.engine.store.Has(ctx, ns, i.Key, hash[:], i.put.Root)
		if err != nil {
			return err
		}
		if !same {
			pending[i.Key] = true
			continue
		}
		i.State, i.Status, i.Chunks = store.ItemDone, store.Unchanged, put.Chunks
		seq = max(seq, put.Seq)
		if i.put.Stat != "" {
			states = append(states, store.FileState{
				ID: i.Key, Root: i.put.Root, Version: put.Version,
				Stat: i.put.Stat,
			})
		}
	}
	if seq == 0 {
		return nil
	}
	if len(states) > 0 {
		if err := s.engine.store.RecordFiles(ctx, ns, states); err != nil {
			return err
		}
	}
	return s.engine.collections.CatchUp(ctx, store.Collection{Namespace: ns, Kind: store.KindDocuments}, seq)
}

// Accept queues the job durably: it survives restarts.
func (s *DocumentQueue) Accept(ctx context.Context) (Job, error) {
	if err := s.flush(ctx); err != nil {
		return Job{}, err
	}
	if s.tally.Items == 0 {
		return Job{}, ragctx.Invalid("body", "has no documents; send at least one")
	}
	if s.opts.Before != nil {
		if err := s.opts.Before(); err != nil {
			return Job{}, err
		}
	}
	if err := s.engine.jobs.writes.QueueJob(ctx, s.job.N, s.tally); err != nil {
		return Job{}, err
	}
	s.closed = true
	s.engine.jobs.received(s.job.N)
	s.engine.jobs.wake(store.JobDocuments)
	return s.engine.Jobs().Get(ctx, s.job.ID)
}

// Close removes the items, unless the job was accepted. Items that cannot be removed now are
// removed by the janitor.
func (s *DocumentQueue) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	defer s.engine.jobs.received(s.job.N)
	// The caller's context may have ended; the database is still open.
	if err := s.engine.store.DeleteJob(s.engine.jobs.life, s.job.N); err != nil {
		return fmt.Errorf("remove the queued items: %w", err)
	}
	return nil
}
