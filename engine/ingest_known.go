package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/internal/store"
)

// known is what an ingest knows of the documents that are there, in the order of
// their ids.
type known []knownDocument

type knownDocument struct {
	id, root, stat string
	version        int
}

// file names the version that is known.
func (d knownDocument) file() store.FileState {
	return store.FileState{ID: d.id, Root: d.root, Version: d.version}
}

// list returns the documents whose ids begin with prefix; root limits them to
// those of one root, "" does not.
func list(ctx context.Context, l Lister, namespace, prefix, root string) (known, error) {
	var k known
	o := store.ListOptions{Limit: MaxPage, Prefix: prefix, Root: root}
	for {
		page, err := l.ListDocuments(ctx, namespace, o)
		if err != nil {
			return nil, fmt.Errorf("list what is there: %w", err)
		}
		for _, d := range page {
			k = append(k, knownDocument{d.ID, d.Root, d.Stat, d.Version})
			o.After = d.ID
		}
		if len(page) < o.Limit {
			return k, nil
		}
	}
}

// root returns what root a document has; "" if it has none or is not there.
func (k known) root(id string) string {
	if i, ok := k.find(id); ok {
		return k[i].root
	}
	return ""
}

func (k known) find(id string) (int, bool) {
	return slices.BinarySearchFunc(k, id, func(d knownDocument, id string) int { return strings.Compare(d.id, id) })
}

// of returns the documents of a root that came from an entry.
func (k known) of(root string, e Entry) known {
	var own known
	id := e.ID
	if i, ok := k.find(id); ok && k[i].root == root {
		own = append(own, k[i])
	}
	if e.Alone {
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

// met reports whether a document came from one of the entries with these ids; false
// is the value of one that is [Entry.Alone].
func met(entries map[string]bool, id string) bool {
	for i := range len(id) {
		if id[i] == '/' && entries[id[:i]] {
			return true
		}
	}
	_, ok := entries[id]
	return ok
}

// What is noted of a document is the state of its entry and which of the entry's
// documents it is: " 2", and " 3/" of the last one of an entry that was read
// without a fault.
func stat(state string, n int, last bool) string {
	if state == "" {
		return ""
	}
	s := state + " " + strconv.Itoa(n)
	if last {
		s += "/"
	}
	return s
}

// current reports whether these are all documents of an entry in this state, so
// that reading it would change nothing.
func (k known) current(state string) bool { return state != "" && k.state() == state }

// state returns the state in which an entry was read, of which these are all
// documents; "" if there is none.
func (k known) state() string {
	all, state := 0, ""
	for i, d := range k {
		at := strings.LastIndexByte(d.stat, ' ')
		if at < 0 || i > 0 && d.stat[:at] != state {
			return ""
		}
		state = d.stat[:at]
		if n, last := strings.CutSuffix(d.stat[at+1:], "/"); last {
			all, _ = strconv.Atoi(n) // what is no number is none of ours
		}
	}
	if all != len(k) {
		return ""
	}
	return state
}
