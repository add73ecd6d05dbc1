package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/internal/store"
)

// existingDocuments lists the existing documents that an ingest knows, ordered by id.
type existingDocuments []existingDocument

type existingDocument struct {
	id, root, stat string
	version        int
}

// file identifies the known version.
func (d existingDocument) file() store.FileState {
	return store.FileState{ID: d.id, Root: d.root, Version: d.version}
}

// listExisting returns the documents with ids that begin with prefix; root limits them to one source, ""
// does not.
func listExisting(ctx context.Context, list ListDocuments, namespace, prefix, root string) (existingDocuments, error) {
	var k existingDocuments
	o := store.ListOptions{Limit: MaxPage, Prefix: prefix, Root: root}
	for {
		page, err := list(ctx, namespace, o)
		if err != nil {
			return nil, fmt.Errorf("list existing documents: %w", err)
		}
		for _, d := range page {
			k = append(k, existingDocument{d.ID, d.Root, d.Stat, d.Version})
			o.After = d.ID
		}
		if len(page) < o.Limit {
			return k, nil
		}
	}
}

// ids returns the ids of the documents.
func (k existingDocuments) ids() (out []string) {
	for _, d := range k {
		out = append(out, d.id)
	}
	return out
}

// sourceOf returns a document's source; "" if it has none or does not exist.
func (k existingDocuments) sourceOf(id string) string {
	if i, ok := k.find(id); ok {
		return k[i].root
	}
	return ""
}

func (k existingDocuments) find(id string) (int, bool) {
	return slices.BinarySearchFunc(k, id, func(d existingDocument, id string) int { return strings.Compare(d.id, id) })
}

// fromEntry returns the documents of a source that came from an entry.
func (k existingDocuments) fromEntry(root string, e Entry) existingDocuments {
	var own existingDocuments
	id := e.ID
	if i, ok := k.find(id); ok && k[i].root == root {
		own = append(own, k[i])
	}
	if e.Single {
		return own
	}
	from, _ := k.find(id + "/")
	for _, d := range k[from:] {
		if !strings.HasPrefix(d.id, id+"/") {
			break
		}
		if d.root == root {
			own = append(own, d)
		}
	}
	return own
}

// cameFrom reports whether a document came from one of the entries with these ids. The value false marks
// an entry that is [Entry.Single].
func cameFrom(entries map[string]bool, id string) bool {
	for i := range len(id) {
		if id[i] == '/' && entries[id[:i]] {
			return true
		}
	}
	_, ok := entries[id]
	return ok
}

// documentState returns the file state to record with a document: the state of its entry and the document's
// number within it, " 2", or " 3/" for the last one of an entry that was read without faults.
func documentState(state string, n int, last bool) string {
	if state == "" {
		return ""
	}
	s := state + " " + strconv.Itoa(n)
	if last {
		s += "/"
	}
	return s
}

// current reports whether these are all documents of an entry in this state, so that reading it
// would change nothing.
func (k existingDocuments) current(state string) bool { return state != "" && k.state() == state }

// state returns the state in which the entry of these documents was read; "" if they are not all of
// its documents.
func (k existingDocuments) state() string {
	all, state := 0, ""
	for i, d := range k {
		at := strings.LastIndexByte(d.stat, ' ')
		if at < 0 || i > 0 && d.stat[:at] != state {
			return ""
		}
		state = d.stat[:at]
		if n, last := strings.CutSuffix(d.stat[at+1:], "/"); last {
			all, _ = strconv.Atoi(n) // not written by this package
		}
	}
	if all != len(k) {
		return ""
	}
	return state
}
