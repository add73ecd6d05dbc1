// Package openai has the routes of OpenAI's API for models, files and vector stores.
//
// Everything is a document of the namespace: a file, a vector store, and a file within a vector store, which
// has the store's id as a tag. So keys, quotas, snapshots and erasure apply as to other documents.
package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// Prefixes of the documents' ids, and the key of what they say in their metadata.
const (
	filesPrefix   = "openai/files/"
	storesPrefix  = "openai/vector_stores/"
	entriesPrefix = "openai/vector_store_files/"
	batchesPrefix = "openai/vector_store_file_batches/"
	recordKey     = "openai"
	attributesKey = "attributes" // of a record: the keys that are attributes
)

// maxListed is how many files or vector stores a list reaches, and how many files a vector store holds.
const maxListed = 10_000

type service struct {
	engine *engine.Engine
	most   int // maxListed
}

// Routes returns the routes.
func Routes(e *engine.Engine) []compat.Route {
	s := &service{e, maxListed}
	return slices.Concat(s.models(), s.fileRoutes(), s.storeRoutes(), s.entryRoutes(), s.batchRoutes())
}

func operation(id, method, path, summary, description string) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Tags: []string{compat.Group}, Summary: summary, Description: description,
		DefaultStatus: http.StatusOK,
	}
}

// writing is the route of a handler that changes documents, which belong to no user: a key that is bound to a
// user may not, whether or not what it names exists.
func writing[I, O any](op huma.Operation, h func(context.Context, *I) (*O, error)) compat.Route {
	return compat.Handle(op, func(ctx context.Context, in *I) (*O, error) {
		if err := access.From(ctx).RequireShared(); err != nil {
			return nil, err
		}
		return h(ctx, in)
	})
}

// Scope names the namespace. It is exported because huma ignores unexported embedded types.
type Scope struct {
	Namespace string `query:"namespace" maxLength:"512" doc:"namespace; default is \"default\""`
}

// Window selects a page of a list.
type Window struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"20"`
	Order  string `query:"order" enum:"asc,desc" default:"desc" doc:"by time of creation"`
	After  string `query:"after" maxLength:"128" doc:"id after which the page begins"`
	Before string `query:"before" maxLength:"128" doc:"id before which the page ends"`
}

// list is a page of objects.
type list[T any] struct {
	Object  string  `json:"object" doc:"always list"`
	Data    []T     `json:"data" nullable:"false" doc:"the objects"`
	FirstID *string `json:"first_id" doc:"id of the first object; null on an empty page"`
	LastID  *string `json:"last_id" doc:"id of the last object; null on an empty page"`
	HasMore bool    `json:"has_more" doc:"another page follows"`
}

// page returns the window of objects, which are ordered by time of creation.
func page[T any](all []T, w Window, id func(T) string) (list[T], error) {
	if w.Order != "asc" {
		slices.Reverse(all)
	}
	for _, at := range [...]struct{ name, id string }{{"after", w.After}, {"before", w.Before}} {
		if at.id == "" {
			continue
		}
		i := slices.IndexFunc(all, func(x T) bool { return id(x) == at.id })
		switch {
		case i < 0:
			return list[T]{}, ragctx.Invalid(at.name, "is %q, which is not in the list; send an id of a page", ragctx.Clip(at.id))
		case at.name == "after":
			all = all[i+1:]
		default:
			all = all[:i]
		}
	}
	n := cmp.Or(w.Limit, 20)
	out := list[T]{Object: "list", Data: append([]T{}, all[:min(n, len(all))]...), HasMore: len(all) > n}
	if len(out.Data) > 0 {
		first, last := id(out.Data[0]), id(out.Data[len(out.Data)-1])
		out.FirstID, out.LastID = &first, &last
	}
	return out, nil
}

// deleted confirms a deletion.
type deleted struct {
	ID      string `json:"id" doc:"id of the deleted object"`
	Object  string `json:"object" doc:"kind of the object, and .deleted"`
	Deleted bool   `json:"deleted" doc:"always true"`
}

type deletedOutput struct{ Body deleted }

// newID returns an id that sorts by time of creation.
func (s *service) newID(prefix string) string {
	return prefix + strings.ReplaceAll(s.engine.NewID(), "-", "")
}

// created returns the time in an id of [service.newID], in seconds since 1970.
func created(id string) int64 {
	_, hex, _ := strings.Cut(strings.Replace(id, "-", "_", 1), "_")
	ms, err := strconv.ParseInt(hex[:min(12, len(hex))], 16, 64)
	if err != nil {
		return 0
	}
	return ms / 1000
}

var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// checkIDs refuses the parts of an id that no document has.
func checkIDs(prefix string, ids []string) error {
	for _, id := range ids {
		if !validID.MatchString(id) {
			return notFound(prefix, id)
		}
	}
	return nil
}

// get returns a document and its text by a prefix and the parts of its id.
func (s *service) get(ctx context.Context, namespace, prefix string, ids ...string) (store.Document, string, error) {
	if err := checkIDs(prefix, ids); err != nil {
		return store.Document{}, "", err
	}
	d, text, err := s.engine.Documents().Get(ctx, namespace, prefix+strings.Join(ids, "/"), 0)
	if isNotFound(err) {
		return d, "", notFound(prefix, ids[len(ids)-1])
	}
	return d, text, err
}

// find is get without the text.
func (s *service) find(ctx context.Context, namespace, prefix string, ids ...string) (store.Document, error) {
	if err := checkIDs(prefix, ids); err != nil {
		return store.Document{}, err
	}
	id := prefix + strings.Join(ids, "/")
	docs, err := s.engine.Documents().List(ctx, namespace, store.ListOptions{Prefix: id, Limit: 1}) // the shortest id is first
	if err == nil && (len(docs) == 0 || docs[0].ID != id) {
		return store.Document{}, notFound(prefix, ids[len(ids)-1])
	}
	if err != nil {
		return store.Document{}, err
	}
	return docs[0], nil
}

func notFound(prefix, id string) error {
	kind := map[string]string{
		filesPrefix: "file", storesPrefix: "vector store", entriesPrefix: "file in this vector store", batchesPrefix: "file batch",
	}[prefix]
	return fmt.Errorf("there is no %s %q: %w", kind, ragctx.Clip(id), ragctx.ErrNotFound)
}

// each visits the documents under a prefix, oldest first, a page at a time. visit may delete them.
func (s *service) each(ctx context.Context, namespace, prefix string, visit func([]store.Document) error) error {
	o := store.ListOptions{Prefix: prefix, Limit: engine.MaxPage}
	for {
		docs, err := s.engine.Documents().List(ctx, namespace, o)
		if err != nil {
			return err
		}
		if err := visit(docs); err != nil || len(docs) < o.Limit {
			return err
		}
		o.After = docs[len(docs)-1].ID
	}
}

// all returns the documents under a prefix, oldest first.
func (s *service) all(ctx context.Context, namespace, prefix string) ([]store.Document, error) {
	var all []store.Document
	err := s.each(ctx, namespace, prefix, func(docs []store.Document) error {
		if all = append(all, docs...); len(all) > s.most {
			return ragctx.TooLarge("limit", "is exceeded: there are more than %d objects; use /v1/documents", s.most)
		}
		return nil
	})
	return all, err
}

// lastPart returns the object's id in the id of its document.
func lastPart(d store.Document) string { return d.ID[strings.LastIndexByte(d.ID, '/')+1:] }

// record returns the data of a document about an object.
func record(d store.Document) map[string]any {
	r, _ := d.Metadata[recordKey].(map[string]any)
	return r
}

func text(r map[string]any, key string) string { s, _ := r[key].(string); return s }

func number(r map[string]any, key string) int64 {
	switch n := r[key].(type) {
	case float64:
		return int64(n)
	case int64:
		return n
	case interface{ Int64() (int64, error) }:
		i, _ := n.Int64()
		return i
	}
	return 0
}

// put stores a document.
func (s *service) put(ctx context.Context, namespace string, d ragctx.Document) (store.Document, error) {
	if _, err := s.engine.Documents().Put(ctx, namespace, d, ""); err != nil {
		return store.Document{}, err
	}
	out, _, err := s.engine.Documents().Get(ctx, namespace, d.ExternalID, 0)
	return out, err
}

// model is an embedding model.
type model struct {
	ID      string `json:"id" doc:"name of the model"`
	Object  string `json:"object" doc:"always model"`
	Created int64  `json:"created" doc:"always 0"`
	OwnedBy string `json:"owned_by" doc:"always ragctx"`
}

type modelsOutput struct{ Body list[model] }

type modelOutput struct{ Body model }

type modelInput struct {
	Model string `path:"model" maxLength:"512" doc:"name of the model"`
}

// models are the routes that list the model of /v1/embeddings.
func (s *service) models() []compat.Route {
	id := builtin.Default().Identity()
	all := []model{}
	for _, name := range []string{builtin.DefaultName, id.Name + "@" + id.Revision} {
		all = append(all, model{ID: name, Object: "model", OwnedBy: "ragctx"})
	}
	return []compat.Route{
		compat.Handle(operation("openai-models", http.MethodGet, "/v1/models", "List models", "The models of /v1/embeddings."),
			func(context.Context, *struct{}) (*modelsOutput, error) {
				return &modelsOutput{list[model]{Object: "list", Data: all, FirstID: &all[0].ID, LastID: &all[1].ID}}, nil
			}),
		compat.Handle(operation("openai-model", http.MethodGet, "/v1/models/{model}", "Get a model", "A model of /v1/embeddings."),
			func(_ context.Context, in *modelInput) (*modelOutput, error) {
				i := slices.IndexFunc(all, func(m model) bool { return m.ID == in.Model })
				if i < 0 {
					return nil, fmt.Errorf("there is no model %q; use %q: %w",
						ragctx.Clip(in.Model), builtin.DefaultName, ragctx.ErrNotFound)
				}
				return &modelOutput{all[i]}, nil
			}),
	}
}
