package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/providers/procedures"
)

// Item is the source of an answer's item: a passage of a document, a memory, the body of a
// procedure, a ledger message, or the state of a cluster.
type Item struct {
	Chunk

	Type     ragctx.ContextType `json:"context_type" enum:"resource,memory,skill"`
	Document string             `json:"document,omitempty" doc:"document id; only for passages of documents"`
	Version  int                `json:"version"`
}

type itemKey struct {
	Scoped
	ID      string `path:"id" doc:"percent-encoded id of the item" example:"docs/a.md@1#0"`
	Cluster string `query:"cluster"`
}

type itemOutput struct{ Body Item }

func (s *Server) getItem(ctx context.Context, in *itemKey) (*itemOutput, error) {
	if in.Cluster != "" {
		return s.messageItem(ctx, in)
	}
	document, version, _, ok := passage.ParseItemID(in.ID)
	if !ok {
		return s.memoryItem(ctx, in)
	}
	u, err := s.engine.Documents().Passage(ctx, in.Namespace, in.ID)
	if errors.Is(err, ragctx.ErrNotFound) {
		return s.memoryItem(ctx, in) // a memory's id has no fixed form
	}
	if err != nil {
		return nil, err
	}
	return &itemOutput{Item{chunkOf(document, version, u), ragctx.TypeResource, document, version}}, nil
}

// memoryItem returns a memory as one passage; if there is none of this id, a procedure, or a
// message or state of a ledger.
func (s *Server) memoryItem(ctx context.Context, in *itemKey) (*itemOutput, error) {
	m, err := s.engine.Memories().Get(ctx, in.Namespace, in.ID, "", true)
	if errors.Is(err, ragctx.ErrNotFound) {
		for _, find := range []func(context.Context, *itemKey) (*itemOutput, error){s.skillItem, s.messageItem} {
			if item, err := find(ctx, in); !errors.Is(err, ragctx.ErrNotFound) {
				return item, err
			}
		}
		return nil, fmt.Errorf("item %q: %w", ragctx.Clip(in.ID), ragctx.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return &itemOutput{Item{Chunk: wholeOf(m.ID, m.Content), Type: ragctx.TypeMemory, Version: m.Version}}, nil
}

// skillItem returns the body of a published procedure.
func (s *Server) skillItem(ctx context.Context, in *itemKey) (*itemOutput, error) {
	id, v, err := s.engine.Procedures().Skill(ctx, in.Namespace, in.ID)
	if err != nil {
		return nil, err
	}
	return &itemOutput{Item{
		Chunk: wholeOf(id.String(), procedures.Markdown(id.Name, v.ProcedureBody)),
		Type:  ragctx.TypeSkill, Version: v.Number,
	}}, nil
}

// messageItem returns a ledger message or the state of a cluster.
func (s *Server) messageItem(ctx context.Context, in *itemKey) (*itemOutput, error) {
	it, err := s.engine.Ledger().Item(ctx, in.Namespace, in.Cluster, in.ID)
	if err != nil {
		return nil, err
	}
	return &itemOutput{Item{Chunk: wholeOf(it.ID, it.Content), Type: it.Type}}, nil
}

// wholeOf returns a text as one passage.
func wholeOf(id, text string) Chunk {
	end := Position{Byte: len(text), Line: 1 + strings.Count(text, "\n"), Rune: utf8.RuneCountInString(text)}
	return Chunk{ID: id, Heading: []string{}, Text: text, Start: Position{Line: 1}, End: end}
}
