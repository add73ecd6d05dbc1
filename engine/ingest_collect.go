package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/store"
)

// Lister tells what documents there are: an [Engine], or a client of a server.
type Lister interface {
	ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error)
}

// Change is one thing that an ingest would do. Exactly one of Document, Delete
// and Skip is set.
type Change struct {
	Path     string // of the file; the id of a document whose file is gone
	Document *docs.Document
	Root     string // of the document
	// MovedFrom is the root that the document is taken over from; "" for none.
	MovedFrom string
	Delete    string // id of a document whose file is gone
	Skip      string // why the file is left out
}

// Collect yields what [Ingest] would do, for a server that is to do it as a job.
// An error ends it. Workers and Progress of the options do not count.
func Collect(ctx context.Context, l Lister, o IngestOptions) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		c := collector{lister: l, opts: o, claimed: make(map[string]string), yield: yield}
		for _, path := range o.Paths {
			root, err := o.open(path)
			if err == nil {
				err = c.root(ctx, root)
			}
			if errors.Is(err, errEnough) {
				return
			}
			if err != nil {
				yield(Change{}, fmt.Errorf("ingest %s: %w", path, err))
				return
			}
		}
	}
}

// errEnough says that the consumer wants no more.
var errEnough = errors.New("enough")

// collector is one Collect.
type collector struct {
	lister  Lister
	opts    IngestOptions
	claimed map[string]string // ids of this ingest and their roots
	yield   func(Change, error) bool
}

func (c *collector) send(ch Change) error {
	if !c.yield(ch, nil) {
		return errEnough
	}
	return nil
}

// root collects one root.
func (c *collector) root(ctx context.Context, root Root) error {
	there, err := c.list(ctx, root.Prefix())
	if err != nil {
		return err
	}
	seen, skipped := make(map[string]bool), false
	for e, err := range root.Entries(ctx) {
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
		seen[e.ID] = true
		if err := c.entry(ctx, root, e, there); err != nil {
			return err
		}
	}
	if skipped && len(seen) == 0 {
		return nil
	}
	return c.vanished(root, seen, there)
}

// list returns the roots of the documents whose ids begin with prefix.
func (c *collector) list(ctx context.Context, prefix string) (map[string]string, error) {
	there := make(map[string]string)
	o := store.ListOptions{Limit: MaxPage, Prefix: prefix}
	for {
		page, err := c.lister.ListDocuments(ctx, c.opts.Namespace, o)
		if err != nil {
			return nil, fmt.Errorf("list what is there: %w", err)
		}
		for _, d := range page {
			there[d.ID], o.After = d.Root, d.ID
		}
		if len(page) < o.Limit {
			return there, nil
		}
	}
}

// entry collects what one entry says.
func (c *collector) entry(ctx context.Context, root Root, e Entry, there map[string]string) error {
	for d, err := range e.Read(ctx) {
		ch := Change{Path: e.Path}
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			ch.Path, ch.Skip = skip.Path, skip.Reason
		} else if err != nil {
			return err
		} else {
			c.document(&ch, root.Name(), d, there)
		}
		if err := c.send(ch); err != nil {
			return err
		}
	}
	return nil
}

// document makes ch the change that stores a document.
func (c *collector) document(ch *Change, root string, d docs.Document, there map[string]string) {
	id := d.ExternalID
	old, ok := c.claimed[id]
	if !ok {
		old = there[id]
	}
	switch {
	case old == "" || old == root:
	case !filepath.IsAbs(old) || !missing(old):
		ch.Skip = otherRoot(old).Error()
		return
	default:
		ch.MovedFrom = old
	}
	c.claimed[id] = root
	ch.Document, ch.Root = &d, root
}

// vanished yields the documents of a root that are gone.
func (c *collector) vanished(root Root, seen map[string]bool, there map[string]string) error {
	for _, id := range slices.Sorted(maps.Keys(there)) {
		if there[id] != root.Name() || met(seen, id) || !root.Gone(id) {
			continue
		}
		if err := c.send(Change{Path: id, Delete: id}); err != nil {
			return err
		}
	}
	return nil
}
