package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/internal/store"
)

// Limits of OpenAI's API.
const (
	maxAttributes     = 16
	maxAttributeKey   = 64
	maxAttributeValue = 512
	maxStoreName      = 256
	maxBatch          = 2000
)

// attributes are the values of a file in a vector store.
type attributes map[string]any

// validate checks attributes against the limits. texts allows texts only.
func (a attributes) validate(field string, texts bool) error {
	if len(a) > maxAttributes {
		return ragctx.Invalid(field, "has %d keys; the limit is %d", len(a), maxAttributes)
	}
	for k, v := range a {
		at := field + "." + ragctx.Clip(k)
		if k == "" || len([]rune(k)) > maxAttributeKey || k == recordKey {
			return ragctx.Invalid(at, "is no possible key; use 1 to %d characters, other than %q", maxAttributeKey, recordKey)
		}
		switch v := v.(type) {
		case string:
			if len([]rune(v)) > maxAttributeValue {
				return ragctx.Invalid(at, "has %d characters; the limit is %d", len([]rune(v)), maxAttributeValue)
			}
			continue
		case float64, bool:
			if !texts {
				continue
			}
		}
		return ragctx.Invalid(at, "is not supported; use a text%s", map[bool]string{false: ", a number, true or false"}[texts])
	}
	return nil
}

// fileCounts counts the files of a vector store or a batch by state. Files are indexed before a request is
// answered, so all are completed.
type fileCounts struct {
	InProgress int `json:"in_progress" doc:"always 0"`
	Completed  int `json:"completed" doc:"number of files"`
	Failed     int `json:"failed" doc:"number of files that could not be added"`
	Cancelled  int `json:"cancelled" doc:"always 0"`
	Total      int `json:"total" doc:"number of files"`
}

// vectorStore is a vector store.
type vectorStore struct {
	ID           string         `json:"id" doc:"id of the vector store"`
	Object       string         `json:"object" doc:"always vector_store"`
	CreatedAt    int64          `json:"created_at" doc:"time of creation, in seconds since 1970"`
	Name         string         `json:"name" doc:"name of the vector store"`
	Description  string         `json:"description,omitempty" doc:"description"`
	UsageBytes   int64          `json:"usage_bytes" doc:"size of the texts"`
	FileCounts   fileCounts     `json:"file_counts" doc:"number of files"`
	Status       string         `json:"status" doc:"always completed"`
	ExpiresAfter *struct{}      `json:"expires_after" doc:"always null"`
	ExpiresAt    *int64         `json:"expires_at" doc:"always null"`
	LastActiveAt int64          `json:"last_active_at" doc:"same as created_at"`
	Metadata     map[string]any `json:"metadata" nullable:"true" doc:"custom values"`
}

// chunking is a strategy to cut files.
type chunking struct {
	Type   string `json:"type" enum:"auto,static" doc:"auto uses the chunk sizes of ragctx"`
	Static *struct {
		MaxChunkSizeTokens int `json:"max_chunk_size_tokens" minimum:"100" maximum:"4096" doc:"maximum size, four characters to a token"`
		ChunkOverlapTokens int `json:"chunk_overlap_tokens" minimum:"0" maximum:"2048" doc:"ignored: chunks do not overlap"`
	} `json:"static,omitempty" doc:"for static"`
}

func (c *chunking) sizes() (o ragctx.ChunkSizes) {
	if c != nil && c.Static != nil {
		o.MaxChars = 4 * c.Static.MaxChunkSizeTokens
		o.TargetChars = o.MaxChars
	}
	return o
}

// newVectorStore requests a vector store.
type newVectorStore struct {
	Name             string     `json:"name,omitempty" maxLength:"256" doc:"name of the vector store"`
	Description      string     `json:"description,omitempty" maxLength:"512" doc:"description"`
	FileIDs          []string   `json:"file_ids,omitempty" maxItems:"2000" doc:"files to add"`
	Metadata         attributes `json:"metadata,omitempty" doc:"custom values: at most 16 texts"`
	ChunkingStrategy *chunking  `json:"chunking_strategy,omitempty" doc:"for file_ids"`
}

// storeChange changes a vector store.
type storeChange struct {
	Name     *string    `json:"name,omitempty" maxLength:"256" doc:"new name"`
	Metadata attributes `json:"metadata,omitempty" doc:"new values, instead of all present ones"`
}

type newStoreInput struct {
	Scope
	Body newVectorStore
}

// StoreKey names a vector store. It is exported because huma ignores unexported embedded types.
type StoreKey struct {
	Scope
	StoreID string `path:"vector_store_id" maxLength:"512" doc:"id of the vector store"`
}

type storeChangeInput struct {
	StoreKey
	Body storeChange
}

type storeListInput struct {
	Scope
	Window
}

type storeOutput struct{ Body vectorStore }

type storesOutput struct{ Body list[vectorStore] }

const storesPath = "/v1/vector_stores"

func (s *service) storeRoutes() []compat.Route {
	const one = storesPath + "/{vector_store_id}"
	return []compat.Route{
		writing(operation("openai-create-vector-store", http.MethodPost, storesPath, "Create a vector store",
			"The files of a vector store are documents with its id as a tag."), s.createStore),
		compat.Handle(operation("openai-vector-stores", http.MethodGet, storesPath, "List vector stores",
			"By time of creation."), s.listStores),
		compat.Handle(operation("openai-vector-store", http.MethodGet, one, "Get a vector store",
			"With the number of its files."), s.getStore),
		writing(operation("openai-change-vector-store", http.MethodPost, one, "Change a vector store",
			"Absent fields stay unchanged."), s.changeStore),
		writing(operation("openai-delete-vector-store", http.MethodDelete, one, "Delete a vector store",
			"Removes its files from searches; the uploaded files stay."), s.deleteStore),
		compat.Handle(operation("openai-search-vector-store", http.MethodPost, one+"/search", "Search a vector store",
			"The ranking of ragctx; rewrite_query has no effect, because every question is expanded."), s.search),
	}
}

// save stores the data of a vector store, under a text that no question finds.
func (s *service) save(ctx context.Context, namespace, id, name, description string, metadata map[string]any) (store.Document, error) {
	if len(name) > maxStoreName*4 {
		return store.Document{}, ragctx.Invalid("name", "has %d bytes; the limit is %d characters", len(name), maxStoreName)
	}
	return s.put(ctx, namespace, ragctx.Document{
		ExternalID: storesPrefix + id, Title: id, Source: "openai:" + id, Text: id, MIME: "text/plain",
		Metadata: with(nil, map[string]any{"name": name, "description": description, "metadata": metadata}),
	})
}

func (s *service) storeOf(ctx context.Context, namespace string, d store.Document) (vectorStore, error) {
	id, r := lastPart(d), record(d)
	v := vectorStore{
		ID: id, Object: "vector_store", CreatedAt: created(id), Name: text(r, "name"), Description: text(r, "description"),
		Status: "completed", LastActiveAt: created(id), Metadata: map[string]any{},
	}
	if m, ok := r["metadata"].(map[string]any); ok {
		v.Metadata = m
	}
	err := s.each(ctx, namespace, entriesPrefix+id+"/", func(files []store.Document) error {
		v.FileCounts.Completed += len(files)
		for _, f := range files {
			v.UsageBytes += int64(f.Bytes)
		}
		return nil
	})
	v.FileCounts.Total = v.FileCounts.Completed
	return v, err
}

func (s *service) createStore(ctx context.Context, in *newStoreInput) (*storeOutput, error) {
	r := in.Body
	if err := r.Metadata.validate("metadata", true); err != nil {
		return nil, err
	}
	if err := s.checkFiles(ctx, in.Namespace, "file_ids", r.FileIDs); err != nil { // at most maxBatch: a new store has room
		return nil, err
	}
	id := s.newID("vs_")
	d, err := s.save(ctx, in.Namespace, id, r.Name, r.Description, r.Metadata)
	if err != nil {
		return nil, err
	}
	files := make([]newStoreFile, len(r.FileIDs))
	for i, file := range r.FileIDs {
		files[i] = newStoreFile{FileID: file, ChunkingStrategy: r.ChunkingStrategy}
	}
	if err := s.attachAll(ctx, in.Namespace, id, files); err != nil {
		return nil, err
	}
	v, err := s.storeOf(ctx, in.Namespace, d)
	return &storeOutput{v}, err
}

// checkFiles refuses ids of files that do not exist. It reads no texts, as together they may be large.
func (s *service) checkFiles(ctx context.Context, namespace, field string, ids []string) error {
	for i, id := range ids {
		_, err := s.find(ctx, namespace, filesPrefix, id)
		if isNotFound(err) {
			return ragctx.Invalid(fmt.Sprintf("%s[%d]", field, i), "names the file %q, which does not exist; upload it to /v1/files",
				ragctx.Clip(id))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *service) listStores(ctx context.Context, in *storeListInput) (*storesOutput, error) {
	docs, err := s.all(ctx, in.Namespace, storesPrefix)
	if err != nil {
		return nil, err
	}
	window, err := page(docs, in.Window, lastPart)
	if err != nil {
		return nil, err
	}
	out := list[vectorStore]{Object: "list", FirstID: window.FirstID, LastID: window.LastID, HasMore: window.HasMore}
	out.Data = []vectorStore{}
	for _, d := range window.Data {
		v, err := s.storeOf(ctx, in.Namespace, d)
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, v)
	}
	return &storesOutput{out}, nil
}

func (s *service) getStore(ctx context.Context, in *StoreKey) (*storeOutput, error) {
	d, _, err := s.get(ctx, in.Namespace, storesPrefix, in.StoreID)
	if err != nil {
		return nil, err
	}
	v, err := s.storeOf(ctx, in.Namespace, d)
	return &storeOutput{v}, err
}

func (s *service) changeStore(ctx context.Context, in *storeChangeInput) (*storeOutput, error) {
	if err := in.Body.Metadata.validate("metadata", true); err != nil {
		return nil, err
	}
	d, _, err := s.get(ctx, in.Namespace, storesPrefix, in.StoreID)
	if err != nil {
		return nil, err
	}
	v, err := s.storeOf(ctx, in.Namespace, d)
	if err != nil {
		return nil, err
	}
	if in.Body.Name != nil {
		v.Name = *in.Body.Name
	}
	if in.Body.Metadata != nil {
		v.Metadata = in.Body.Metadata
	}
	_, err = s.save(ctx, in.Namespace, v.ID, v.Name, v.Description, v.Metadata)
	return &storeOutput{v}, err
}

func (s *service) deleteStore(ctx context.Context, in *StoreKey) (*deletedOutput, error) {
	d, _, err := s.get(ctx, in.Namespace, storesPrefix, in.StoreID)
	if err != nil {
		return nil, err
	}
	for _, prefix := range [...]string{entriesPrefix, batchesPrefix} {
		err := s.each(ctx, in.Namespace, prefix+in.StoreID+"/", func(docs []store.Document) error {
			for _, e := range docs {
				if err := s.remove(ctx, in.Namespace, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &deletedOutput{deleted{in.StoreID, "vector_store.deleted", true}}, s.remove(ctx, in.Namespace, d)
}

// attributesOf returns the attributes of a file in a vector store. Older records do not name them.
func attributesOf(d store.Document) map[string]any {
	names, named := record(d)[attributesKey].([]any)
	out := make(map[string]any)
	for k, v := range d.Metadata {
		if k != recordKey && (!named || slices.Contains(names, any(k))) {
			out[k] = v
		}
	}
	return out
}

// plainValue returns a value as filters compare it: a text, a float64 or a bool.
func plainValue(v any) any {
	if n, ok := v.(json.Number); ok {
		f, _ := n.Float64()
		return f
	}
	return v
}

// under returns the id of a vector store's document of some kind.
func under(prefix, storeID, id string) string {
	return strings.Join([]string{prefix + storeID, id}, "/")
}
