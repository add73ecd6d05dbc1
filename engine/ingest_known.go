package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/store"
)

// known is what an ingest knows of the documents that are there, in the order of
// their ids.
type known []knownDocument

type knownDocument struct{ id, root, stat string }

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
			k = append(k, knownDocument{d.ID, d.Root, d.Stat})
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

// of returns the documents of a root that came from the entry with an id.
func (k known) of(root, id string) known {
	var own known
	if i, ok := k.find(id); ok && k[i].root == root {
		own = append(own, k[i])
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

// met reports whether a document came from one of the entries with these ids.
func met(entries map[string]bool, id string) bool {
	for i := range len(id) {
		if id[i] == '/' && entries[id[:i]] {
			return true
		}
	}
	return entries[id]
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
func (k known) current(state string) bool {
	all := 0
	for _, d := range k {
		n, ok := strings.CutPrefix(d.stat, state+" ")
		if !ok {
			return false
		}
		if n, last := strings.CutSuffix(n, "/"); last {
			all, _ = strconv.Atoi(n) // what is no number is none of ours
		}
	}
	return state != "" && len(k) > 0 && all == len(k)
}
