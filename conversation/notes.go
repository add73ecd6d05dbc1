package conversation

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/pipeline"
)

// branchNotes are those notes of a session that are about a branch: what was observed on
// another one was never said here.
type branchNotes struct {
	of     pipeline.Notes
	branch *loaded
	read   []pipeline.Note // that were returned last
}

// Notes implements [pipeline.Notes].
func (n *branchNotes) Notes(ctx context.Context, of pipeline.Scope) ([]pipeline.Note, error) {
	notes, err := n.of.Notes(ctx, of)
	n.read = slices.DeleteFunc(notes, func(one pipeline.Note) bool { return one.Through != "" && !n.branch.has(one.Through) })
	return n.read, err
}

// AddNote implements [pipeline.Notes].
func (n *branchNotes) AddNote(ctx context.Context, of pipeline.Scope, one pipeline.Note) error {
	return n.of.AddNote(ctx, of, one)
}
