package sessiontest

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

func background() context.Context { return context.Background() }

// always is the condition that always holds.
var always session.Condition

func create(s session.Storage, k session.Key) error { return importTo(s, k, session.Archive{}) }

func importTo(s session.Storage, k session.Key, a session.Archive) error {
	_, err := s.Create(background(), k, a, "")
	return err
}

func remove(s session.Storage, k session.Key) error { return s.Delete(background(), k, always) }

func forkTo(s session.Storage, k session.Key, leaf, to string) error {
	_, err := s.Fork(background(), k, session.Fork{Leaf: leaf, ID: to}, always)
	return err
}

func update(s session.Storage, k session.Key, u session.Update) error {
	_, err := s.Update(background(), k, u, always)
	return err
}

func navigate(s session.Storage, k session.Key, id string) error {
	return update(s, k, session.Update{Leaf: &id})
}

func label(s session.Storage, k session.Key, id, label string) error {
	return update(s, k, session.Update{Labels: map[string]string{id: label}})
}

func annotate(s session.Storage, k session.Key, parameters map[string]any) error {
	return update(s, k, session.Update{Parameters: parameters})
}

// addCompaction adds a compaction, which gets an id if it has none, and removes the superseded ones.
func addCompaction(
	s session.Storage, k session.Key, c session.Compaction, superseded ...string,
) (session.Compaction, error) {
	c = session.Options{}.CompleteCompaction(c)
	return c, update(s, k, session.Update{AddCompaction: &c, RemoveCompactions: superseded})
}

// undoCompaction removes the newest compaction.
func undoCompaction(s session.Storage, k session.Key) (out session.Compaction, err error) {
	all, err := compactionsOf(s, k)
	if err != nil {
		return out, err
	}
	if len(all) == 0 {
		return out, fmt.Errorf("no compactions: %w", ragctx.ErrNotFound)
	}
	out = all[len(all)-1]
	return out, update(s, k, session.Update{RemoveCompactions: []string{out.ID}})
}

func appendTo(s session.Storage, k session.Key, section string, messages ...ragctx.Message) ([]ragctx.Message, error) {
	out, _, err := s.Append(background(), k, section, messages, always)
	return out, err
}

func exists(s session.Storage, k session.Key) (bool, error) { return session.Has(background(), s, k) }

func exportOf(s session.Storage, k session.Key) (session.Archive, error) {
	a, _, err := session.Export(background(), s, k)
	return a, err
}

func load(s session.Storage, k session.Key) (session.Store, error) {
	a, err := exportOf(s, k)
	return a.Store(), err
}

func read(s session.Storage, k session.Key, q session.Query) (session.Archive, error) {
	a, _, err := s.Read(background(), k, q)
	return a, err
}

func versionOf(s session.Storage, k session.Key) (session.Version, error) {
	_, at, err := s.Read(background(), k, session.Query{})
	return at, err
}

func leafOf(s session.Storage, k session.Key) (string, error) {
	a, err := read(s, k, session.Query{})
	return a.Leaf, err
}

func labelsOf(s session.Storage, k session.Key) (map[string]string, error) {
	a, err := read(s, k, session.Query{Labels: true})
	return a.Labels, err
}

func compactionsOf(s session.Storage, k session.Key) ([]session.Compaction, error) {
	a, err := read(s, k, session.Query{Compactions: true})
	return a.Compactions, err
}

func pathTo(s session.Storage, k session.Key, id string) ([]session.Entry, error) {
	return session.Path(background(), s, k, id)
}

func get(s session.Storage, k session.Key, id string) (session.Entry, error) {
	a, err := read(s, k, session.Query{Messages: session.OneMessage, ID: id})
	if err != nil {
		return session.Entry{}, err
	}
	return a.Entries[0], nil
}

func sectionOf(s session.Storage, k session.Key, name string, limit int) (out []ragctx.Message, err error) {
	a, err := read(s, k, session.Query{Messages: session.NewestMessages, Section: name, Limit: limit})
	for _, e := range a.Entries {
		out = append(out, e.Message)
	}
	return out, err
}
