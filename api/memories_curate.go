package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// memoryHistory lists the changes of a memory.
type memoryHistory struct {
	History []ragctx.MemoryChange `json:"history" nullable:"false" doc:"oldest first"`
}

type historyOutput struct{ Body memoryHistory }

// undone is a reverted change.
type undone struct {
	Undone ragctx.MemoryChange `json:"undone" doc:"the reverted change"`
}

type undoneOutput struct{ Body undone }

// turnUndone lists the memories changed by reverting an extraction.
type turnUndone struct {
	MemoryIDs []string `json:"memory_ids" nullable:"false" doc:"memories that changed"`
}

type turnUndoneOutput struct{ Body turnUndone }

// turnKey are the parameters that name a turn.
type turnKey struct {
	Viewed
	ID string `path:"id" doc:"turn id"`
}

// turn is a stored turn.
type turn struct {
	TurnRequest

	Recorded time.Time `json:"recorded"`
	// Changes lists the turn's changes to memories.
	Changes []store.TurnChange `json:"learnt" nullable:"false"`
}

type storedTurnOutput struct{ Body turn }

// pruneRequest selects memories to prune. The zero value is the documented default policy.
type pruneRequest struct {
	Namespace     string   `json:"namespace,omitempty" maxLength:"512" doc:"default is \"default\""`
	UserID        string   `json:"user_id,omitempty" maxLength:"512"`
	AllUsers      bool     `json:"all_users,omitempty" doc:"prune memories of all users"`
	AgentID       string   `json:"agent_id,omitempty" maxLength:"512"`
	SessionID     string   `json:"session_id,omitempty" maxLength:"512"`
	MaxAgeDays    *float64 `json:"max_age_days,omitempty" minimum:"0" maximum:"36500"`
	MinImportance *float64 `json:"min_importance,omitempty" minimum:"0" maximum:"1" doc:"default 0.5"`
	MaxItems      int      `json:"max_items,omitempty" minimum:"0"`
	DryRun        bool     `json:"dry_run,omitempty" doc:"report only, change nothing"`
}

// policy returns the requested policy.
func (r pruneRequest) policy() ragctx.PrunePolicy {
	p := ragctx.DefaultPrunePolicy()
	if r.MaxAgeDays != nil {
		p.MaxAge = time.Duration(*r.MaxAgeDays * float64(24*time.Hour))
	}
	if r.MinImportance != nil {
		p.MinImportance = *r.MinImportance
	}
	p.MaxItems = r.MaxItems
	return p
}

type pruneInput struct{ Body pruneRequest }

type prunedOutput struct{ Body engine.Pruned }

const prunePath = `/v1/memories\:prune`

func (s *Server) curationRoutes() {
	tags := []string{coreGroup}
	s.listRoutes()
	s.patchRoutes()
	s.outcomeRoutes()
	s.extractRoutes()
	register(s, huma.Operation{
		OperationID: "memory-history", Method: http.MethodGet, Path: verbPath("/v1/memories", "history"), Tags: tags,
		Summary: "History of a memory", Description: "Lists the changes of a memory, oldest first, even after " +
			"its deletion.",
	}, s.memoryHistory)
	register(s, huma.Operation{
		OperationID: "undo-memory", Method: http.MethodPost, Path: verbPath("/v1/memories", "undo"), Tags: tags,
		Summary: "Undo the last change of a memory", DefaultStatus: http.StatusOK,
		Description: "Reverts the last change: a created memory is deleted; a deleted, replaced or superseded " +
			"one is restored; a merge loses the merged evidence. A second undo reverts the change before. 409 if " +
			"there is nothing to undo.",
	}, s.undoMemory)
	register(s, huma.Operation{
		OperationID: "undo-turn", Method: http.MethodPost, Path: verbPath("/v1/turns", "undo"), Tags: tags,
		Summary: "Undo the extraction from a turn", DefaultStatus: http.StatusOK,
		Description: "Reverts the memories extracted from a turn. The turn itself and its episodic memory stay, " +
			"and so do later changes.",
	}, s.undoTurn)
	register(s, huma.Operation{
		OperationID: "get-turn", Method: http.MethodGet, Path: "/v1/turns/{id}", Tags: tags, Summary: "Get a turn",
		Description: "Returns " +
			"the turn as stored, and the facts extracted from it.",
	}, s.getTurn)
	register(s, huma.Operation{
		OperationID: "release-memory", Method: http.MethodPost, Path: verbPath("/v1/memories", "release"), Tags: tags,
		Summary: "Release a memory from quarantine", Description: "Searches include the memory from now on.",
		DefaultStatus: http.StatusOK,
	}, s.releaseMemory)
	register(s, huma.Operation{
		OperationID: "discard-memory", Method: http.MethodPost, Path: verbPath("/v1/memories", "discard"), Tags: tags,
		Summary:     "Discard a quarantined memory",
		Description: "Removes the memory before any answer has included it.",
	}, s.discardMemory)
	register(s, huma.Operation{
		OperationID: "prune-memories", Method: http.MethodPost, Path: prunePath, Tags: tags,
		Summary: "Prune old and unimportant memories", DefaultStatus: http.StatusOK,
		Description: "Removes at most 10,000 memories per call. Pinned memories stay. An undo restores a pruned " +
			"memory, and queries with an earlier as_of still find it.",
	}, s.pruneMemories)
}

func (s *Server) memoryHistory(ctx context.Context, in *MemoryKey) (*historyOutput, error) {
	h, err := s.engine.Memories().History(ctx, in.Namespace, in.ID, in.viewer())
	return &historyOutput{memoryHistory{h}}, err
}

func (s *Server) undoMemory(ctx context.Context, in *MemoryKey) (*undoneOutput, error) {
	c, err := s.engine.Memories().Undo(ctx, in.Namespace, in.ID, in.viewer())
	return &undoneOutput{undone{c}}, err
}

func (s *Server) undoTurn(ctx context.Context, in *turnKey) (*turnUndoneOutput, error) {
	ids, err := s.engine.Sessions().UndoTurn(ctx, in.Namespace, in.ID, in.viewer())
	if err == nil && len(ids) == 0 {
		ids = []string{}
		_, err = s.engine.Sessions().Turn(ctx, in.Namespace, in.ID, in.viewer()) // checks that the turn exists
	}
	return &turnUndoneOutput{turnUndone{ids}}, err
}

func (s *Server) getTurn(ctx context.Context, in *turnKey) (*storedTurnOutput, error) {
	t, err := s.engine.Sessions().Turn(ctx, in.Namespace, in.ID, in.viewer())
	if err != nil {
		return nil, err
	}
	changes, err := s.engine.Sessions().TurnChanges(ctx, in.Namespace, in.ID, in.viewer())
	return &storedTurnOutput{turn{turnRequest(t.Turn), t.Recorded, changes}}, err
}

func (s *Server) releaseMemory(ctx context.Context, in *MemoryKey) (*memoryOutput, error) {
	m, err := s.engine.Memories().Release(ctx, in.Namespace, in.ID, in.viewer())
	return &memoryOutput{memoryTag(m), store.Quarantined{Memory: m}}, err
}

func (s *Server) discardMemory(ctx context.Context, in *MemoryKey) (*struct{}, error) {
	return nil, s.engine.Memories().Discard(ctx, in.Namespace, in.ID, in.viewer())
}

func (s *Server) pruneMemories(ctx context.Context, in *pruneInput) (*prunedOutput, error) {
	r := in.Body
	f, err := MemoryScope{UserID: r.UserID, AllUsers: r.AllUsers, AgentID: r.AgentID, SessionID: r.SessionID}.filter()
	if err != nil {
		return nil, err
	}
	if r.MaxItems < 0 {
		return nil, ragctx.Invalid("max_items", "is %d; use the number of memories to keep, or 0 for all", r.MaxItems)
	}
	p, err := s.engine.Memories().Prune(ctx, r.Namespace, f, r.policy(), r.DryRun)
	return &prunedOutput{p}, err
}
