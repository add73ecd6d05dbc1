package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// DocumentRequest is a document to store. It is exported because huma ignores unexported embedded
// types.
type DocumentRequest struct {
	Text     string    `json:"text,omitempty" doc:"the whole text, at most 32 MiB; default is the title"`
	Title    string    `json:"title,omitempty"`
	Source   string    `json:"source,omitempty" doc:"origin of the text, at most 4 KiB" example:"file:docs/a.md"`
	MIME     string    `json:"mime,omitempty" maxLength:"512" example:"text/markdown"`
	Tags     []string  `json:"tags,omitempty" maxItems:"64"`
	Metadata Metadata  `json:"metadata,omitempty"`
	Occurred time.Time `json:"occurred,omitzero" doc:"time of the events in the document"`
	Chunk    *Sizes    `json:"chunk,omitempty" doc:"chunk sizes; default is 400 characters, at most 1200"`
	Root     string    `json:"root,omitempty"`
}

// newDocumentRequest is a document to store, with the id in the body.
type newDocumentRequest struct {
	ID  string `json:"id,omitempty" doc:"id of the document, 1 to 512 bytes of UTF-8; default is the url, or a new id" example:"docs/a.md"`
	URL string `json:"url,omitempty" doc:"address of the text, which becomes its source. It is not fetched" example:"https://example.com"`
	DocumentRequest
}

// documentPut is the result of storing a document.
type documentPut struct {
	ID      string       `json:"id"`
	Version int          `json:"version" doc:"counts from 1"`
	Status  store.Status `json:"status" enum:"created,replaced,unchanged"`
	Chunks  int          `json:"chunks" doc:"number of chunks"`
}

// Document is a version of a document.
type Document struct {
	store.Document

	Text *string `json:"text,omitempty" doc:"the whole text"`
	// ChunkList holds the chunks in order.
	ChunkList []Chunk `json:"chunk_list,omitempty" nullable:"false" doc:"chunks in order"`
}

// Chunk is a passage of a document.
type Chunk struct {
	ID      string   `json:"id" doc:"id for citations: document@version#ordinal" example:"docs/a.md@1#0"`
	Ordinal int      `json:"ordinal" doc:"counts from 0"`
	Heading []string `json:"heading" nullable:"false" doc:"headings above the chunk, outermost first"`
	Text    string   `json:"text"`
	Page    int      `json:"page,omitempty" doc:"first page of the chunk, from 1, if the text has pages"`
	Start   Position `json:"start"`
	End     Position `json:"end" doc:"end of the chunk, exclusive"`
}

// Position is a position in a text.
type Position struct {
	Byte int `json:"byte" doc:"counts from 0"`
	Line int `json:"line" doc:"counts from 1"`
	Rune int `json:"rune" doc:"offset in code points, from 0"`
}

// newDocument returns a version of a document with its text and chunks.
func newDocument(d store.Document, text string, units []passage.Chunk) Document {
	out := Document{Document: d, Text: &text}
	for _, u := range units {
		out.ChunkList = append(out.ChunkList, chunkOf(d.ID, d.Version, u))
	}
	return out
}

func chunkOf(document string, version int, u passage.Chunk) Chunk {
	c := Chunk{
		ID: passage.ItemID(document, version, u.Ordinal), Ordinal: u.Ordinal, Heading: u.Heading, Text: u.Text, Page: u.Page,
		Start: Position(u.Start), End: Position(u.End),
	}
	if c.Heading == nil {
		c.Heading = []string{}
	}
	return c
}

// documentPage is a page of documents without texts.
type documentPage struct {
	Documents  []Document `json:"documents" nullable:"false"`
	NextCursor string     `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// DocumentKey are the parameters of every route of one document.
type DocumentKey struct {
	Scoped
	ID string `path:"id" example:"docs/a.md"`
}

// FileAttributes are the attributes of a document that is sent as a file. It is exported for huma, like
// DocumentRequest.
type FileAttributes struct {
	Title    string   `query:"title" maxLength:"2048" doc:"for a file; default is the title found in it"`
	Source   string   `query:"source" maxLength:"4096" doc:"for a file: its origin"`
	Tags     []string `query:"tags,explode" maxItems:"64" doc:"for a file; may be repeated"`
	Metadata string   `query:"metadata" maxLength:"16384" example:"{\"team\": \"ops\"}"`
	Occurred string   `query:"occurred" format:"date-time" doc:"for a file: time of the events in it"`
	Root     string   `query:"root" doc:"for a file: source that it was ingested from"`
}

// DocumentBody is a document in JSON, or a file with its attributes. It is exported for huma, like
// DocumentRequest.
type DocumentBody struct {
	FileAttributes

	body  *heldBody
	file  bool
	media string // type of a file
}

type documentPutInput struct {
	DocumentKey
	DocumentBody
	Matching
	IfNoneMatch string `header:"If-None-Match" maxLength:"8192"`
}

type documentPostInput struct {
	Scoped
	DocumentBody
	ID string `query:"id" maxLength:"512" doc:"for a file: its id; default is the name of the file in a form, or a new id" example:"a.md"`
}

// Resolve implements [huma.Resolver]; it distinguishes files from JSON.
func (d *DocumentBody) Resolve(ctx huma.Context) []error {
	r := humaecho.Unwrap(ctx).Request()
	h := r.Header
	if d.body, _ = r.Body.(*heldBody); d.body == nil {
		return []error{errors.New("the body could not be read")} // cannot happen: the body was read before
	}
	if d.file = isFile(h); d.file {
		d.media = h.Get(echo.HeaderContentType)
	}
	return nil
}

type documentGet struct {
	DocumentKey
	Version int  `query:"version" minimum:"1" maximum:"2147483647" doc:"default is the current version"`
	Text    bool `query:"text" default:"true" doc:"include the text"`
	Chunks  bool `query:"chunks" doc:"include the list of chunks"`
}

type documentList struct {
	Scoped
	Page
	Prefix string `query:"prefix" maxLength:"512" doc:"only documents whose id has this prefix" example:"docs/"`
	Root   string `query:"root" doc:"only documents ingested from this root"`
}

type duplicateList struct {
	Scoped
	Prefix string `query:"prefix" maxLength:"512" example:"docs/"`
	Page
}

// DuplicateList holds groups of identical or nearly identical documents.
type DuplicateList struct {
	Groups []docs.Duplicates `json:"groups" nullable:"false"`
	Total  int               `json:"total" doc:"total number of groups"`
	// NextCursor is absent on the last page.
	NextCursor string `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// pageOfDuplicates returns a page of groups after a cursor.
func pageOfDuplicates(all []docs.Duplicates, p Page, after duplicateCursor) DuplicateList {
	list := DuplicateList{Total: len(all), Groups: all}
	if after != (duplicateCursor{}) {
		n := slices.IndexFunc(all, after.precedes)
		if n < 0 {
			n = len(all)
		}
		list.Groups = all[n:]
	}
	list.Groups, list.NextCursor = pageOf(p, list.Groups, func(d docs.Duplicates) duplicateCursor {
		return duplicateCursor{len(d.IDs), d.IDs[0]}
	})
	return list
}

type duplicateListOutput struct{ Body DuplicateList }

type documentPutOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"version tag for If-Match"`
	Body   documentPut
}

type documentOutput struct {
	ETag string `header:"ETag" doc:"tag of this answer for If-None-Match, and of this version for If-Match"`
	Body Document
}

type documentPageOutput struct{ Body documentPage }

func (o *documentPutOutput) made() string { return o.Body.ID }

func (s *Server) documentRoutes() {
	tags := []string{coreGroup}
	register(s, huma.Operation{
		OperationID: "put-document", Method: http.MethodPut, Path: "/v1/documents/{id}", Tags: tags,
		Summary: "Store a document", DefaultStatus: http.StatusCreated,
		Description: "A stored document is durable and searchable when the server answers. Identical content " +
			"changes nothing; different content creates a new version. 200 if the id existed. A body of another " +
			"type than JSON is a file, such as a PDF or a web page, and its text is stored; the query parameters " +
			"apply to files only.",
		RequestBody: s.documentBody(reflect.TypeFor[DocumentRequest]()),
	}, s.putDocument, http.StatusOK)
	body := s.documentBody(reflect.TypeFor[newDocumentRequest]())
	body.Content[formType] = &huma.MediaType{Schema: &huma.Schema{
		Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}},
		AdditionalProperties: true,
	}}
	register(s, huma.Operation{
		OperationID: "post-document", Method: http.MethodPost, Path: "/v1/documents", Tags: tags,
		Summary: "Store a document under an id of the body or a new id", DefaultStatus: http.StatusCreated,
		Description: "As PUT /v1/documents/{id}, and answers with the id. 200 if the id existed. A form has one part " +
			"named file; its other parts have the names of the query parameters.",
		RequestBody: body,
	}, s.postDocument, http.StatusOK)
	register(s, huma.Operation{
		OperationID: "get-document", Method: http.MethodGet, Path: "/v1/documents/{id}", Tags: tags,
		Summary:     "Get a document",
		Description: "Returns the current version, or an earlier one that is still stored.",
	}, s.getDocument)
	register(s, huma.Operation{
		OperationID: "list-documents", Method: http.MethodGet, Path: "/v1/documents", Tags: tags,
		Summary: "List documents", Description: "Lists documents in order of their ids.",
	}, s.listDocuments)
	register(s, huma.Operation{
		OperationID: "list-duplicates", Method: http.MethodGet, Path: duplicatesPath, Tags: tags,
		Summary: "Find duplicates", Description: "Groups identical and nearly identical documents, the largest " +
			"group first. Contexts show identical passages only once in any case.",
	}, s.listDuplicates)
	register(s, huma.Operation{
		OperationID: "delete-document", Method: http.MethodDelete, Path: "/v1/documents/{id}", Tags: tags,
		Summary: "Delete a document",
		Description: "Answers no longer include the document, except queries with an earlier as_of. With " +
			"erase=true all its versions are erased permanently, and so are traces of a document that is gone.",
	}, s.deleteDocument)
	register(s, huma.Operation{
		OperationID: "get-item", Method: http.MethodGet, Path: "/v1/items/{id}", Tags: tags, Summary: "Look up a citation",
		Description: "Returns the passage of an item's id, even after the document was replaced, or the text of " +
			"another item. Ids have the forms document@version#ordinal, procedure:name@version (procedure:name " +
			"for the canonical version), state:cluster, or are ids of a memory or a message.",
	}, s.getItem)
}

func (s *Server) getDocument(ctx context.Context, in *documentGet) (*documentOutput, error) {
	d, text, err := s.engine.Documents().Get(ctx, in.Namespace, in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	var units []passage.Chunk
	if in.Chunks {
		if units, err = s.engine.Documents().Chunks(ctx, in.Namespace, in.ID, d.Version); err != nil {
			return nil, err
		}
	}
	out := newDocument(d, text, units)
	if !in.Text {
		out.Text = nil
	}
	return &documentOutput{tagOfRevision(d.Revision()), out}, nil
}

func (s *Server) listDuplicates(ctx context.Context, in *duplicateList) (*duplicateListOutput, error) {
	after, err := decodeCursor[duplicateCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Documents().Duplicates(ctx, in.Namespace, in.Prefix)
	return &duplicateListOutput{pageOfDuplicates(found, in.Page, after)}, err
}

func (s *Server) listDocuments(ctx context.Context, in *documentList) (*documentPageOutput, error) {
	c, err := decodeCursor[documentCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Documents().List(ctx, in.Namespace, store.ListOptions{
		After: c.After, Limit: in.Limit + 1, Prefix: in.Prefix, Root: in.Root,
	})
	if err != nil {
		return nil, err
	}
	found, next := pageOf(in.Page, found, func(d store.Document) documentCursor { return documentCursor{d.ID} })
	page := documentPage{Documents: make([]Document, len(found)), NextCursor: next}
	for i, d := range found {
		page.Documents[i].Document = d
	}
	return &documentPageOutput{page}, nil
}
