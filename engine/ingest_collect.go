package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
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
	Path     string // of the file
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
			abs, err := filepath.Abs(path)
			if err == nil {
				err = c.root(ctx, abs)
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

// root collects one file or folder, given as an absolute path.
func (c *collector) root(ctx context.Context, root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return ragctx.Invalid("path", "%v; give a file or folder that exists", err)
	}
	prefix := idPrefix(c.opts.Prefix, root, info.IsDir())
	under := prefix
	if !info.IsDir() {
		under += filepath.Base(root)
	}
	there, err := c.list(ctx, under)
	if err != nil {
		return err
	}
	seen, skipped := make(map[string]bool), false
	for f, err := range docs.Walk(ctx, []string{root}, c.opts.Walk) {
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
		id := prefix + f.ExternalID
		seen[id] = true
		if err := c.file(id, root, f, there); err != nil {
			return err
		}
	}
	if !info.IsDir() || skipped && len(seen) == 0 {
		return nil
	}
	return c.vanished(root, prefix, seen, there)
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

func (c *collector) file(id, root string, f docs.File, there map[string]string) error {
	d, err := f.Read()
	if err != nil {
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			return c.send(Change{Path: skip.Path, Skip: skip.Reason})
		}
		return err
	}
	d.ExternalID, d.Source, d.Tags = id, "file:"+id, c.opts.Tags
	ch := Change{Path: f.Path, Document: &d, Root: root}
	old, ok := c.claimed[id]
	if !ok {
		old = there[id]
	}
	switch {
	case old == "" || old == root:
	case !filepath.IsAbs(old) || !missing(old):
		return c.send(Change{Path: f.Path, Skip: otherRoot(old).Error()})
	default:
		ch.MovedFrom = old
	}
	c.claimed[id] = root
	return c.send(ch)
}

// vanished yields the documents of a folder whose files are gone.
func (c *collector) vanished(root, prefix string, seen map[string]bool, there map[string]string) error {
	ignored := func(string) bool { return false }
	if !c.opts.Walk.NoIgnore {
		ignored = docs.Ignored(root)
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		from, rel := there[id], strings.TrimPrefix(id, prefix)
		if from != root || seen[id] || !lost(filepath.Join(root, filepath.FromSlash(rel))) && !ignored(rel) {
			continue
		}
		if err := c.send(Change{Path: filepath.Join(root, filepath.FromSlash(rel)), Delete: id}); err != nil {
			return err
		}
	}
	return nil
}
