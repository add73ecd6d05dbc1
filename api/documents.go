package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// DocumentRequest is a document as it is sent. Its id is in the path.
type DocumentRequest struct {
	Text     string    `json:"text,omitempty" doc:"the whole text, at most 32 MiB; without it, title is the text"`
	Title    string    `json:"title,omitempty" doc:"at most 2 KiB; default is that of the text, else the file name in the id"`
	Source   string    `json:"source,omitempty" doc:"where the text comes from, at most 4 KiB" example:"file:docs/a.md"`
	MIME     string    `json:"mime,omitempty" maxLength:"512" doc:"the type of text; default is by the id's extension" example:"text/markdown"`
	Tags     []string  `json:"tags,omitempty" maxItems:"64"`
	Metadata Metadata  `json:"metadata,omitempty" doc:"at most 64 KiB of JSON; filters reach strings, numbers and booleans"`
	Occurred time.Time `json:"occurred,omitzero" doc:"when what the document tells happened"`
	Chunk    *Sizes    `json:"chunk,omitempty" doc:"how long the chunks are; default is 400 characters, at most 1200"`
	Root     string    `json:"root,omitempty" doc:"what the document was ingested from; a document of one root is not replaced from another"`
}

// DocumentPut is the outcome of storing a document.
type DocumentPut struct {
	ID      string       `json:"id"`
	Version int          `json:"version" doc:"counts from 1"`
	Status  store.Status `json:"status" enum:"created,replaced,unchanged"`
	Chunks  int          `json:"chunks" doc:"the number of chunks the text was cut into"`
}

// Document is a version of a document.
type Document struct {
	store.Document

	Text *string `json:"text,omitempty" doc:"the whole text"`
	// ChunkList is what a model can be shown of the document, in order.
	ChunkList []Chunk `json:"chunk_list,omitempty" nullable:"false" doc:"the chunks, in order"`
}

// Chunk is a passage of a document.
type Chunk struct {
	ID      string   `json:"id" doc:"cites the chunk: document@version#ordinal" example:"docs/a.md@1#0"`
	Ordinal int      `json:"ordinal" doc:"from 0"`
	Heading []string `json:"heading" nullable:"false" doc:"the headings above it, outermost first"`
	Text    string   `json:"text"`
	Page    int      `json:"page,omitempty" doc:"that it begins on, from 1, in a text with pages"`
	Start   Position `json:"start"`
	End     Position `json:"end" doc:"behind the last character"`
}

// Position is a place in a text.
type Position struct {
	Byte int `json:"byte" doc:"from 0"`
	Line int `json:"line" doc:"from 1"`
	Rune int `json:"rune" doc:"in code points, from 0"`
}

// NewDocument returns a version of a document with its text and chunks.
func NewDocument(d store.Document, text string, units []passage.Chunk) Document {
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

// DocumentPage is a page of documents, without their texts.
type DocumentPage struct {
	Documents  []Document `json:"documents" nullable:"false"`
	NextCursor string     `json:"next_cursor,omitempty" doc:"asks for the next page; absent on the last"`
}

// DocumentKey are the parameters of every route of one document.
type DocumentKey struct {
	Scoped
	ID string `path:"id" doc:"the document's id, percent-encoded UTF-8 of 1 to 512 bytes; a slash may stand as it is or as %2F" example:"docs/a.md"`
}

// documentPut is a document as JSON, or a file: then the parameters say what the file
// does not.
type documentPut struct {
	DocumentKey
	Matching
	IfNoneMatch string   `header:"If-None-Match" maxLength:"8192" doc:"*: the document is stored only if there is none of the id; else the answer is 412"`
	Title       string   `query:"title" maxLength:"2048" doc:"of a file; default is what it calls itself"`
	Source      string   `query:"source" maxLength:"4096" doc:"of a file: where it comes from"`
	Tags        []string `query:"tags,explode" maxItems:"64" doc:"of a file; may be repeated"`
	Metadata    string   `query:"metadata" maxLength:"16384" doc:"of a file: a JSON object; a longer one does not fit into a URL" example:"{\"team\": \"ops\"}"`
	Occurred    string   `query:"occurred" format:"date-time" doc:"of a file: when what it tells happened"`
	Root        string   `query:"root" doc:"of a file: what it was ingested from"`

	body  *heldBody
	file  bool
	media string // of a file
}

// Resolve implements [huma.Resolver]; it tells a file from JSON.
func (d *documentPut) Resolve(ctx huma.Context) []error {
	r := humaecho.Unwrap(ctx).Request()
	h := r.Header
	if d.body, _ = r.Body.(*heldBody); d.body == nil {
		return []error{errors.New("the body was not read")} // it was, before
	}
	if d.file = isFile(h); d.file {
		d.media = h.Get(echo.HeaderContentType)
	}
	return nil
}

type documentGet struct {
	DocumentKey
	Version int  `query:"version" minimum:"1" maximum:"2147483647" doc:"default is the current one"`
	Text    bool `query:"text" default:"true" doc:"whether to send the text"`
	Chunks  bool `query:"chunks" doc:"whether to list the chunks"`
}

type documentList struct {
	Scoped
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Prefix string `query:"prefix" maxLength:"512" doc:"of the ids to list" example:"docs/"`
	Root   string `query:"root" doc:"lists only documents that were ingested from it"`
}

type duplicateList struct {
	Scoped
	Prefix string `query:"prefix" maxLength:"512" doc:"only groups of which an id begins so" example:"docs/"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
}

// DuplicateList are groups of documents that say the same or nearly the same.
type DuplicateList struct {
	Groups []docs.Duplicates `json:"groups" nullable:"false"`
	Total  int               `json:"total" doc:"how many groups there are"`
	// NextCursor is absent on the last page.
	NextCursor string `json:"next_cursor,omitempty" doc:"asks for the next page; absent on the last"`
}

// pageOfDuplicates returns the groups after a cursor, at most limit.
func pageOfDuplicates(all []docs.Duplicates, limit int, after duplicateCursor) DuplicateList {
	list := DuplicateList{Total: len(all), Groups: all}
	if after != (duplicateCursor{}) {
		n := slices.IndexFunc(all, after.precedes)
		if n < 0 {
			n = len(all)
		}
		list.Groups = all[n:]
	}
	if len(list.Groups) > limit {
		list.Groups = list.Groups[:limit]
		last := list.Groups[limit-1]
		list.NextCursor = encodeCursor(duplicateCursor{len(last.IDs), last.IDs[0]})
	}
	return list
}

type duplicateListOutput struct{ Body DuplicateList }

type documentPutOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"of the version that is current now, for If-Match"`
	Body   DocumentPut
}

type documentOutput struct {
	ETag string `header:"ETag" doc:"of this answer, for If-None-Match, and of this version, for If-Match"`
	Body Document
}

type documentPageOutput struct{ Body DocumentPage }

func (s *Server) documentRoutes() {
	tags := []string{"documents"}
	register(s, huma.Operation{
		OperationID: "put-document", Method: http.MethodPut, Path: "/v1/documents/{id}", Tags: tags,
		Summary: "Store a document", DefaultStatus: http.StatusCreated,
		Description: "When it is acknowledged it is durable and can be found. The same content again changes nothing; " +
			"other content makes a new version. 200 if the id existed. " +
			"A body of another type than JSON is a file, such as a PDF or a web page, whose text is stored; the parameters are for files alone.",
		RequestBody: s.documentBody(),
	}, s.putDocument, http.StatusOK)
	register(s, huma.Operation{
		OperationID: "get-document", Method: http.MethodGet, Path: "/v1/documents/{id}", Tags: tags, Summary: "Get a document",
		Description: "The current version, or an earlier one that is still kept.",
	}, s.getDocument)
	register(s, huma.Operation{
		OperationID: "list-documents", Method: http.MethodGet, Path: "/v1/documents", Tags: tags,
		Summary: "List documents", Description: "In order of their ids.",
	}, s.listDocuments)
	register(s, huma.Operation{
		OperationID: "list-duplicates", Method: http.MethodGet, Path: duplicatesPath, Tags: tags,
		Summary: "Find duplicates", Description: "Documents that say the same or nearly the same, in groups, the largest first. " +
			"An answer shows equal passages once in any case.",
	}, s.listDuplicates)
	register(s, huma.Operation{
		OperationID: "delete-document", Method: http.MethodDelete, Path: "/v1/documents/{id}", Tags: tags, Summary: "Delete a document",
		Description: "It is in no answer from then on, except to questions about an earlier time (as_of). " +
			"With erase=true it is removed for good, and it is no error if it is not there.",
	}, s.deleteDocument)
	register(s, huma.Operation{
		OperationID: "get-item", Method: http.MethodGet, Path: "/v1/items/{id}", Tags: tags, Summary: "Look up a citation",
		Description: "Returns the passage that the id of an item of an answer cites, also when the document has been replaced since; " +
			"for a memory's id its text.",
	}, s.getItem)
}

func (s *Server) getDocument(ctx context.Context, in *documentGet) (*documentOutput, error) {
	d, text, err := s.engine.Document(ctx, in.Namespace, in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	var units []passage.Chunk
	if in.Chunks {
		if units, err = s.engine.DocumentChunks(ctx, in.Namespace, in.ID, d.Version); err != nil {
			return nil, err
		}
	}
	out := NewDocument(d, text, units)
	if !in.Text {
		out.Text = nil
	}
	return &documentOutput{tagOfRevision(d.Revision()), out}, nil
}

func (s *Server) listDuplicates(ctx context.Context, in *duplicateList) (*duplicateListOutput, error) {
	after, err := decodeCursor[duplicateCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Duplicates(ctx, in.Namespace, in.Prefix)
	return &duplicateListOutput{pageOfDuplicates(found, in.Limit, after)}, err
}

func (s *Server) listDocuments(ctx context.Context, in *documentList) (*documentPageOutput, error) {
	c, err := decodeCursor[documentCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.ListDocuments(ctx, in.Namespace, store.ListOptions{
		After: c.After, Limit: in.Limit, Prefix: in.Prefix, Root: in.Root,
	})
	if err != nil {
		return nil, err
	}
	page := DocumentPage{Documents: make([]Document, len(found))}
	for i, d := range found {
		page.Documents[i].Document = d
	}
	if len(found) == in.Limit {
		page.NextCursor = encodeCursor(documentCursor{found[len(found)-1].ID})
	}
	return &documentPageOutput{page}, nil
}
