package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// MemoryScope are the parameters that select whose memories a route covers. It is exported because
// huma ignores unexported embedded types.
type MemoryScope struct {
	Scoped
	UserID    string `query:"user_id" maxLength:"512" doc:"this user's and shared memories; default is shared memories only"`
	AllUsers  bool   `query:"all_users" doc:"memories of all users"`
	AgentID   string `query:"agent_id" maxLength:"512"`
	SessionID string `query:"session_id" maxLength:"512"`
}

func (m MemoryScope) filter() (store.MemoryFilter, error) {
	f := store.MemoryFilter{UserID: m.UserID, AnyUser: m.AllUsers, AgentID: m.AgentID, SessionID: m.SessionID}
	if m.AllUsers && m.UserID != "" {
		return f, ragctx.Invalid("all_users", "contradicts user_id; send one of them")
	}
	return f, nil
}

// MemoryConditions are the filter parameters within a scope. It is exported for huma, like
// MemoryScope.
type MemoryConditions struct {
	MemoryScope
	Types          []string `query:"type,explode" maxItems:"4" enum:"episodic,semantic,procedural,working"`
	Tags           []string `query:"tag,explode" maxItems:"64"`
	Kinds          []string `query:"kind,explode" maxItems:"8" enum:"preference,decision,instruction,identity,relation,plan,event,outcome"`
	Contains       string   `query:"contains" maxLength:"4096" doc:"substring of the memory; ASCII case is ignored"`
	MinImportance  float64  `query:"min_importance" minimum:"0" maximum:"1"`
	Profile        bool     `query:"profile" doc:"only memories that describe their user"`
	Pinned         bool     `query:"pinned" doc:"only pinned memories"`
	OccurredAfter  string   `query:"occurred_after" format:"date-time" doc:"inclusive"`
	OccurredBefore string   `query:"occurred_before" format:"date-time" doc:"exclusive"`
}

// filter converts the parameters into a filter.
func (n MemoryConditions) filter() (store.MemoryFilter, error) {
	f, err := n.MemoryScope.filter()
	if err != nil {
		return f, err
	}
	f.AnyTags, f.Contains, f.MinImportance, f.Profile, f.Pinned = n.Tags, n.Contains, n.MinImportance, n.Profile, n.Pinned
	if f.Filter.OccurredAfter, err = parseTime("occurred_after", n.OccurredAfter); err != nil {
		return f, err
	}
	if f.Filter.OccurredBefore, err = parseTime("occurred_before", n.OccurredBefore); err != nil {
		return f, err
	}
	for _, name := range n.Types {
		t, err := ragctx.ParseMemoryType(name)
		if err != nil {
			return f, err
		}
		f.Types = append(f.Types, t)
	}
	for _, name := range n.Kinds {
		k, err := facts.ParseKind(name)
		if err != nil {
			return f, err
		}
		f.Kinds = append(f.Kinds, k)
	}
	return f, nil
}

// parseTime parses a parameter; "" is the zero time.
func parseTime(name, value string) (t time.Time, err error) {
	if value == "" {
		return t, nil
	}
	if t, err = time.Parse(time.RFC3339, value); err != nil {
		return t, ragctx.Invalid(name, "is %q; use a time such as 2026-03-01T12:00:00Z", ragctx.Clip(value))
	}
	return t, nil
}

type memoryList struct {
	MemoryConditions
	State string `query:"state" enum:"active,quarantined,superseded,deleted,expired" default:"active"`
	AsOf  string `query:"as_of" format:"date-time" doc:"memories that were current at that time"`
	Order string `query:"order" enum:"score,recent,importance,id" default:"score"`
	Page
}

func (in *memoryList) filter() (store.MemoryFilter, error) {
	f, err := in.MemoryConditions.filter()
	if err != nil {
		return f, err
	}
	if f.AsOf, err = parseTime("as_of", in.AsOf); err != nil {
		return f, err
	}
	f.Limit, f.State, f.Order = in.Limit, ragctx.MemoryState(in.State), MemoryOrder(in.Order)
	c, err := decodeCursor[memoryCursor](in.Cursor, in.list)
	f.After = store.MemoryCursor(c)
	return f, err
}

// memoryPage is a page of memories.
type memoryPage struct {
	Memories   []ragctx.Memory `json:"memories" nullable:"false"`
	NextCursor string          `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

type memoryPageOutput struct{ Body memoryPage }

// quarantinePage is a page of quarantined memories.
type quarantinePage struct {
	Memories   []store.Quarantined `json:"memories" nullable:"false"`
	NextCursor string              `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

type quarantineOutput struct{ Body quarantinePage }

type quarantineList struct {
	MemoryScope
	Page
}

// tagList holds tags with their number of memories.
type tagList struct {
	Tags       []store.TagCount `json:"tags" nullable:"false"`
	NextCursor string           `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

type tagListOutput struct{ Body tagList }

type tagListInput struct {
	MemoryConditions
	Page
}

type memoryStatsOutput struct{ Body store.MemoryStats }

// Lists of memories, with an escaped colon as in [bulkPath].
const (
	quarantinePath = `/v1/memories\:quarantine`
	memoryTagsPath = `/v1/memories\:tags`
	statsPath      = `/v1/memories\:stats`
)

func (s *Server) listRoutes() {
	tags := []string{coreGroup}
	register(s, huma.Operation{
		OperationID: "list-quarantine", Method: http.MethodGet, Path: quarantinePath, Tags: tags,
		Summary: "List quarantined memories", Description: "Memories that await a release or a discard, oldest " +
			"first, each with the reason.",
	}, s.listQuarantine)
	register(s, huma.Operation{
		OperationID: "list-memory-tags", Method: http.MethodGet, Path: memoryTagsPath, Tags: tags,
		Summary: "Count tags", Description: "Counts the tags of the selected memories, most frequent first.",
	}, s.listMemoryTags)
	register(s, huma.Operation{
		OperationID: "memory-stats", Method: http.MethodGet, Path: statsPath, Tags: tags,
		Summary: "Count memories", Description: "Counts memories by tier, type, kind and state.",
	}, s.memoryStats)
}

func (s *Server) listMemories(ctx context.Context, in *memoryList) (*memoryPageOutput, error) {
	if in.State == string(ragctx.MemoryQuarantined) {
		return s.listQuarantined(ctx, in)
	}
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	found, next, err := s.engine.Memories().List(ctx, in.Namespace, f)
	if err != nil {
		return nil, err
	}
	page := memoryPage{Memories: found}
	if next.ID != "" {
		page.NextCursor = encodeCursor(in.list, memoryCursor(next))
	}
	return &memoryPageOutput{page}, nil
}

// listQuarantined lists quarantined memories in the form of a list of memories.
func (s *Server) listQuarantined(ctx context.Context, in *memoryList) (*memoryPageOutput, error) {
	list := &quarantineList{in.MemoryScope, in.Page}
	q, err := s.listQuarantine(ctx, list)
	if err != nil {
		return nil, err
	}
	page := memoryPage{Memories: make([]ragctx.Memory, len(q.Body.Memories)), NextCursor: q.Body.NextCursor}
	for i, m := range q.Body.Memories {
		page.Memories[i] = m.Memory
	}
	return &memoryPageOutput{page}, nil
}

func (s *Server) listQuarantine(ctx context.Context, in *quarantineList) (*quarantineOutput, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	f.Limit = in.Limit
	c, err := decodeCursor[quarantineCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, next, err := s.engine.Memories().Quarantine(ctx, in.Namespace, f, c.Row)
	if err != nil {
		return nil, err
	}
	page := quarantinePage{Memories: found}
	if next != 0 {
		page.NextCursor = encodeCursor(in.list, quarantineCursor{next})
	}
	return &quarantineOutput{page}, nil
}

func (s *Server) listMemoryTags(ctx context.Context, in *tagListInput) (*tagListOutput, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	after, err := decodeCursor[tagCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	f.Limit = in.Limit + 1
	found, err := s.engine.Memories().Tags(ctx, in.Namespace, f, store.TagCount(after))
	found, next := pageOf(in.Page, found, func(t store.TagCount) tagCursor { return tagCursor(t) })
	return &tagListOutput{tagList{found, next}}, err
}

func (s *Server) memoryStats(ctx context.Context, in *MemoryScope) (*memoryStatsOutput, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	stats, err := s.engine.Memories().Stats(ctx, in.Namespace, f)
	return &memoryStatsOutput{stats}, err
}
