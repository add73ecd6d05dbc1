package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// Lister tells what documents there are: an [Engine], or a client of a server.
type Lister interface {
	ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error)
}

// Change is one thing that an ingest would do. Exactly one of Document, Delete,
// Skip, Unchanged and LeftOut is set.
type Change struct {
	Path     string // of the file; the id of a document whose file is gone
	Document *docs.Document
	Root     string // of the document
	// Stat is what the file's state is noted as, with the document; "" is nothing.
	Stat string
	// MovedFrom is the root that the document is taken over from; "" for none.
	MovedFrom string
	Delete    string // id of a document whose file is gone: this version of Root
	Version   int
	Skip      string // why the file is left out
	Unchanged int    // documents of a file that need not be read
	LeftOut   *docs.LeftOut
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
	there, err := list(ctx, c.lister, c.opts.Namespace, root.Prefix(), "")
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
		seen[e.ID] = !e.Alone
		if err := c.entry(ctx, root.Name(), e, there); err != nil {
			return err
		}
	}
	if l, ok := root.(leaver); ok {
		left := l.LeftOut()
		if err := c.send(Change{Path: root.Name(), LeftOut: &left}); err != nil {
			return err
		}
	}
	if skipped && len(seen) == 0 {
		return nil
	}
	if c.opts.KeepEmpty && len(seen) == 0 && slices.ContainsFunc(there, func(d knownDocument) bool { return d.root == root.Name() }) {
		return c.send(Change{Path: root.Name(), Skip: keptEmpty})
	}
	for _, d := range there {
		if d.root != root.Name() || met(seen, d.id) || !root.Gone(d.id) {
			continue
		}
		if err := c.send(d.deletion()); err != nil {
			return err
		}
	}
	return nil
}

// entry collects what one entry says.
func (c *collector) entry(ctx context.Context, root string, e Entry, there known) error {
	own := there.of(root, e)
	reread := c.opts.Reread || c.taken(root, own)
	same, err := e.ask(ctx, own, reread)
	if skip, ok := errors.AsType[*docs.Skip](err); ok {
		return c.refused(skip, own)
	}
	if err != nil {
		return err
	}
	if same || own.current(e.State) && !reread {
		return c.send(Change{Path: e.Path, Unchanged: len(own)})
	}
	for p, err := range pieces(ctx, e, own) {
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
			c.document(&ch, root, p.doc, there)
		}
		if err := c.send(ch); err != nil {
			return err
		}
	}
	return nil
}

// refused deals with an entry that could not be read. Only if it is gone so are its
// documents.
func (c *collector) refused(skip *docs.Skip, own known) error {
	err := c.send(Change{Path: skip.Path, Skip: skip.Reason})
	for _, d := range own {
		if err == nil && skip.Gone {
			err = c.send(d.deletion())
		}
	}
	return err
}

// taken reports whether another root of this ingest has claimed one of the documents.
func (c *collector) taken(root string, own known) bool {
	return slices.ContainsFunc(own, func(d knownDocument) bool {
		by, ok := c.claimed[d.id]
		return ok && by != root
	})
}

// document makes ch the change that stores a document.
func (c *collector) document(ch *Change, root string, d *docs.Document, there known) {
	id := d.ExternalID
	old, ok := c.claimed[id]
	if !ok {
		old = there.root(id)
	}
	switch {
	case old == "" || old == root:
	case !filepath.IsAbs(old) || !missing(old):
		ch.Skip, ch.Stat = otherRoot(old).Error(), ""
		return
	default:
		ch.MovedFrom = old
	}
	c.claimed[id] = root
	ch.Document, ch.Root = d, root
}

// deletion is the change that deletes the version that is known.
func (d knownDocument) deletion() Change {
	return Change{Path: d.id, Delete: d.id, Root: d.root, Version: d.version}
}
