package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// ListDocuments lists existing documents by pages, as [Documents.List] or a client of a server does.
type ListDocuments func(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error)

// Change is one action of an ingest. Exactly one of Document, Delete, Skip, Unchanged and LeftOut
// is set.
type Change struct {
	Path     string // of the file, or the id of a document without a file
	Document *ragctx.Document
	Root     string // source of the document
	// Stat is the file state to record with the document; "" for none.
	Stat string
	// MovedFrom is the source that the document is taken over from; "" for none.
	MovedFrom string
	Delete    string // id of the document to delete, if it still has this Root and Version
	Version   int
	Skip      string // why the file is skipped
	SkipField string // what Skip is about, as in [Skipped]
	Unchanged int    // number of documents of a file that need not be read
	LeftOut   *docs.LeftOut
}

// Collect yields the changes that [Ingest] would make, for a server that applies them as a job. An
// error is the last value. Workers and Progress of the options are ignored.
func Collect(ctx context.Context, list ListDocuments, o IngestOptions) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		c := collector{list: list, opts: o, claimed: make(map[string]string), yield: yield}
		opener := newSourceOpener(list, o)
		for _, path := range o.Paths {
			root, err := opener.open(ctx, path)
			if err == nil {
				err = c.collectSource(ctx, opener, root)
			}
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil {
				yield(Change{}, fmt.Errorf("ingest %s: %w", path, err))
				return
			}
		}
	}
}

// errStopped signals that the consumer stopped the iteration.
var errStopped = errors.New("enough")

// collector is the state of one Collect.
type collector struct {
	list    ListDocuments
	opts    IngestOptions
	claimed map[string]string // ids of this ingest, with their sources
	yield   func(Change, error) bool
}

func (c *collector) send(ch Change) error {
	if !c.yield(ch, nil) {
		return errStopped
	}
	return nil
}

// collectSource collects the changes of one source.
func (c *collector) collectSource(ctx context.Context, opener sourceOpener, source Source) error {
	existing, err := listExisting(ctx, c.list, c.opts.Namespace, source.Prefix(), "")
	if err != nil {
		return err
	}
	seen, skipped := make(map[string]bool), false
	for e, err := range source.Entries(ctx) {
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			skipped = true
			if err := c.send(Change{Path: skip.Path, Skip: skip.Reason}); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		seen[e.ID] = !e.Single
		if err := c.entry(ctx, source.Name(), e, existing); err != nil {
			return err
		}
	}
	if l, ok := source.(leftOutCounter); ok {
		left := l.LeftOut()
		if err := c.send(Change{Path: source.Name(), LeftOut: &left}); err != nil {
			return err
		}
	}
	if skipped && len(seen) == 0 {
		return nil
	}
	known := slices.ContainsFunc(existing, func(d existingDocument) bool { return d.root == source.Name() })
	if c.opts.KeepEmpty && len(seen) == 0 && known {
		return c.send(Change{Path: source.Name(), Skip: skipEmpty})
	}
	for _, d := range existing {
		if d.root != source.Name() || cameFrom(seen, d.id) || !source.Gone(d.id) {
			continue
		}
		if err := c.send(d.deletion()); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	return c.takeOver(ctx, opener, source)
}

// takeOver collects the deletions of the documents that the new documents of a source replace.
func (c *collector) takeOver(ctx context.Context, opener sourceOpener, source Source) error {
	var ids []string
	for id, root := range c.claimed {
		if root == source.Name() {
			ids = append(ids, id)
		}
	}
	replaced, err := opener.inner(ctx, source, ids)
	for _, d := range replaced {
		if err := c.send(d.deletion()); err != nil {
			return err
		}
	}
	return err
}

// entry collects the changes of one entry.
func (c *collector) entry(ctx context.Context, root string, e Entry, existing existingDocuments) error {
	own := existing.fromEntry(root, e)
	reread := c.opts.Reread || c.claimedElsewhere(root, own)
	same, err := e.ask(ctx, own, reread)
	if skip, ok := errors.AsType[*docs.Skip](err); ok {
		return c.unreadable(skip, own)
	}
	if err != nil {
		return err
	}
	if same || own.current(e.State) && !reread {
		return c.send(Change{Path: e.Path, Unchanged: len(own)})
	}
	for p, err := range readEntry(ctx, e, own) {
		if err != nil {
			return err
		}
		ch := Change{Path: e.Path}
		switch {
		case p.skip != nil:
			ch.Path, ch.Skip = p.skip.Path, p.skip.Reason
		case p.gone != nil:
			ch = p.gone.deletion()
		default:
			ch.Path += strings.TrimPrefix(p.doc.ExternalID, e.ID)
			ch.Stat = p.stat
			c.document(&ch, root, p.doc, existing)
		}
		if err := c.send(ch); err != nil {
			return err
		}
	}
	return nil
}

// unreadable handles an entry that could not be read. Its documents are deleted only if the entry is
// gone.
func (c *collector) unreadable(skip *docs.Skip, own existingDocuments) error {
	err := c.send(Change{Path: skip.Path, Skip: skip.Reason})
	for _, d := range own {
		if err == nil && skip.Gone {
			err = c.send(d.deletion())
		}
	}
	return err
}

// claimedElsewhere reports whether another source of this ingest has claimed one of the documents.
func (c *collector) claimedElsewhere(root string, own existingDocuments) bool {
	return slices.ContainsFunc(own, func(d existingDocument) bool {
		by, ok := c.claimed[d.id]
		return ok && by != root
	})
}

// document fills ch with the change that stores a document.
func (c *collector) document(ch *Change, root string, d *ragctx.Document, existing existingDocuments) {
	id := d.ExternalID
	old, ok := c.claimed[id]
	if !ok {
		old = existing.sourceOf(id)
	}
	switch {
	case old == "" || old == root:
	case !rootGone(old):
		ch.Skip, ch.SkipField, ch.Stat = sourceConflict(old).Error(), prefixField, ""
		return
	default:
		ch.MovedFrom = old
	}
	c.claimed[id] = root
	ch.Document, ch.Root = d, root
}

// deletion returns the change that deletes the known version.
func (d existingDocument) deletion() Change {
	return Change{Path: d.id, Delete: d.id, Root: d.root, Version: d.version}
}
