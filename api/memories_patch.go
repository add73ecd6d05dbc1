package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
)

// memoryPatch changes a memory. Absent fields stay unchanged.
type memoryPatch struct {
	Content    *string   `json:"content,omitempty" doc:"at most 1 MiB"`
	Importance *float64  `json:"importance,omitempty" minimum:"0" maximum:"1"`
	Tags       *[]string `json:"tags,omitempty" maxItems:"64" doc:"replaces all tags"`
	Metadata   Metadata  `json:"metadata,omitempty"`
	Profile    *bool     `json:"profile,omitempty"`
	Pinned     *bool     `json:"pinned,omitempty"`
	Expires    expiry    `json:"expires,omitzero" doc:"expiry time, in the future; null is never"`
	TTL        ttl       `json:"ttl,omitempty" doc:"lifetime from now, in place of expires"`
}

// expiry is a nullable time.
type expiry struct {
	Set bool
	At  time.Time // zero for null
}

// IsZero reports whether the field is absent.
func (e expiry) IsZero() bool { return !e.Set }

// Schema implements [huma.SchemaProvider].
func (expiry) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true}
}

// MarshalJSON implements [json.Marshaler].
func (e expiry) MarshalJSON() ([]byte, error) {
	if e.At.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(e.At)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *expiry) UnmarshalJSON(b []byte) error {
	e.Set = true
	return json.Unmarshal(b, &e.At)
}

// patch converts the request for the engine.
func (r memoryPatch) patch(now time.Time) (memory.Patch, error) {
	p := memory.Patch{
		Content: r.Content, Importance: r.Importance, Tags: r.Tags, Metadata: r.Metadata, Profile: r.Profile,
		Pinned: r.Pinned,
	}
	if r.Expires.Set {
		p.Expires = &r.Expires.At
	}
	if r.TTL != "" {
		if r.Expires.Set {
			return p, ragctx.Invalid("ttl", "contradicts expires; send one of them")
		}
		var m ragctx.Memory
		if err := r.TTL.apply(&m, now); err != nil {
			return p, err
		}
		p.Expires = &m.Expires
	}
	return p, nil
}

// tagsRequest adds and removes tags.
type tagsRequest struct {
	Add    []string `json:"add,omitempty" maxItems:"64"`
	Remove []string `json:"remove,omitempty" maxItems:"64"`
}

// tagsPut replaces all tags of a memory.
type tagsPut struct {
	Tags []string `json:"tags" maxItems:"64" nullable:"false"`
}

type patchInput struct {
	MemoryKey
	Matching
	Body memoryPatch
}

type tagsPutInput struct {
	MemoryKey
	Matching
	Body tagsPut
}

type tagsInput struct {
	MemoryKey
	Matching
	Body tagsRequest
}

func (s *Server) patchRoutes() {
	tags := []string{coreGroup}
	register(s, huma.Operation{
		OperationID: "change-memory", Method: http.MethodPatch, Path: "/v1/memories/{id}", Tags: tags,
		Summary: "Change a memory", DefaultStatus: http.StatusOK,
		Description: "Creates a new version; absent fields stay unchanged, and a change without effect creates " +
			"no version. New content replaces the evidence of an extracted memory: it is the caller's from then on.",
	}, s.changeMemory)
	register(s, huma.Operation{
		OperationID: "put-memory-tags", Method: http.MethodPut, Path: verbPath("/v1/memories", "tags"), Tags: tags,
		Summary: "Replace the tags of a memory", DefaultStatus: http.StatusOK,
		Description: "Creates a new version, unless the tags are the same.",
	}, func(ctx context.Context, in *tagsPutInput) (*memoryPutOutput, error) {
		return s.revise(ctx, in.MemoryKey, in.Matching, memory.Patch{Tags: &in.Body.Tags})
	})
	register(s, huma.Operation{
		OperationID: "change-memory-tags", Method: http.MethodPatch, Path: verbPath("/v1/memories", "tags"), Tags: tags,
		Summary: "Add and remove tags of a memory", DefaultStatus: http.StatusOK,
		Description: "Creates a new version, unless nothing changes. A tag in both lists is removed.",
	}, func(ctx context.Context, in *tagsInput) (*memoryPutOutput, error) {
		return s.revise(ctx, in.MemoryKey, in.Matching, memory.Patch{AddTags: in.Body.Add, RemoveTags: in.Body.Remove})
	})
}

func (s *Server) changeMemory(ctx context.Context, in *patchInput) (*memoryPutOutput, error) {
	p, err := in.Body.patch(s.engine.Now())
	if err != nil {
		return nil, err
	}
	return s.revise(ctx, in.MemoryKey, in.Matching, p)
}

func (s *Server) revise(ctx context.Context, key MemoryKey, as Matching, p memory.Patch) (*memoryPutOutput, error) {
	m, status, err := s.engine.If(as.when()).ReviseMemory(ctx, key.Namespace, key.ID, key.viewer(), p)
	return toMemoryPut(http.StatusOK, m, status), err
}
