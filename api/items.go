package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/passage"
)

// Item is what an item of an answer shows: a passage of a document, or a memory.
type Item struct {
	Chunk

	Type     ragctx.ContextType `json:"context_type" enum:"resource,memory"`
	Document string             `json:"document,omitempty" doc:"the document's id; absent for a memory"`
	Version  int                `json:"version"`
}

type itemKey struct {
	Scoped
	ID string `path:"id" doc:"document@version#ordinal or the id of a memory, percent-encoded" example:"docs/a.md@1#0"`
}

type itemOutput struct{ Body Item }

func (s *Server) getItem(ctx context.Context, in *itemKey) (*itemOutput, error) {
	document, version, _, ok := passage.ParseItemID(in.ID)
	if !ok {
		return s.memoryItem(ctx, in)
	}
	u, err := s.engine.Passage(ctx, in.Namespace, in.ID)
	if errors.Is(err, ragctx.ErrNotFound) {
		return s.memoryItem(ctx, in) // a memory's id may look like anything
	}
	if err != nil {
		return nil, err
	}
	return &itemOutput{Item{chunkOf(document, version, u), ragctx.TypeResource, document, version}}, nil
}

// memoryItem returns a memory as a passage that is the whole of it.
func (s *Server) memoryItem(ctx context.Context, in *itemKey) (*itemOutput, error) {
	m, err := s.engine.Memory(ctx, in.Namespace, in.ID, "", true)
	if errors.Is(err, ragctx.ErrNotFound) {
		return nil, fmt.Errorf("item %q: %w", ragctx.Clip(in.ID), ragctx.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	end := Position{Byte: len(m.Content), Line: 1 + strings.Count(m.Content, "\n"), Rune: utf8.RuneCountInString(m.Content)}
	text := Chunk{ID: m.ID, Heading: []string{}, Text: m.Content, Start: Position{Line: 1}, End: end}
	return &itemOutput{Item{Chunk: text, Type: ragctx.TypeMemory, Version: m.Version}}, nil
}
