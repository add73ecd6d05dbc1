package view

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/session/stage"
)

// branchNotes filters the notes of a session to those about messages of a branch.
type branchNotes struct {
	notes  stage.Notes
	branch *branch
	read   []stage.Note // the result of the last call of Notes
}

// Notes implements [stage.Notes].
func (n *branchNotes) Notes(ctx context.Context, of stage.Scope) ([]stage.Note, error) {
	notes, err := n.notes.Notes(ctx, of)
	n.read = slices.DeleteFunc(notes, func(one stage.Note) bool { return one.Through != "" && !n.branch.has(one.Through) })
	return n.read, err
}

// AddNote implements [stage.Notes].
func (n *branchNotes) AddNote(ctx context.Context, of stage.Scope, one stage.Note) error {
	return n.notes.AddNote(ctx, of, one)
}
