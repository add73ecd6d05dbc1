package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// anyFile is the type of a file recognised by name or content.
const anyFile = "application/octet-stream"

// isFile reports whether the body of a request is a file instead of JSON.
func isFile(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get(echo.HeaderContentType))
	return err != nil || media != jsonType
}

// documentBody describes the request body of a document.
func (s *Server) documentBody(inJSON reflect.Type) *huma.RequestBody {
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	b := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		jsonType: {Schema: s.schemaOf(inJSON)},
		anyFile:  {Schema: binary}, "text/*": {Schema: binary},
	}}
	for _, t := range extract.Types() {
		b.Content[t] = &huma.MediaType{Schema: binary}
	}
	return b
}

// readFile returns the file in a request body.
func (s *Server) readFile(c echo.Context, op *huma.Operation, memory *reservation) ([]byte, *Problem) {
	r := c.Request()
	_, boundary, _ := bulkType(r.Header)
	if form := boundary != "" && op.RequestBody.Content[formType] != nil; !form {
		if p := checkFileType(r.Header); p != nil {
			return nil, p
		}
	}
	return s.readAll(c, op, memory, s.opts.MaxFileBytes, "split the file")
}

// checkFileType rejects unsupported files. A missing type is rejected as well: JSON without its
// type must not be stored as a file.
func checkFileType(h http.Header) *Problem {
	value := h.Get(echo.HeaderContentType)
	f := Fault{Location: "header.Content-Type"}
	media, _, err := mime.ParseMediaType(value)
	switch encoding := h.Get(echo.HeaderContentEncoding); {
	case encoding != "":
		f = Fault{Location: "header.Content-Encoding", Message: fmt.Sprintf("is %q; send the body uncompressed",
			ragctx.Clip(encoding))}
	case len(h.Values(echo.HeaderContentType)) == 1 && err == nil && knownFile(media):
		return nil
	default:
		f.Message = fmt.Sprintf("is %q; send %s, or a file: text/*, %s, or %s (recognised by the extension of "+
			"the id)",
			ragctx.Clip(value), jsonType, strings.Join(extract.Types(), ", "), anyFile)
	}
	return newProblem(http.StatusUnsupportedMediaType, codeMediaType, "the body has an unsupported content type", f)
}

func knownFile(media string) bool {
	return media == anyFile || strings.HasPrefix(media, "text/") ||
		slices.Contains(extract.Types(), media) || media != jsonType && docs.IsTextType(media)
}

func (s *Server) putDocument(ctx context.Context, in *documentPutInput) (*documentPutOutput, error) {
	when, err := in.when()
	if err != nil {
		return nil, err
	}
	to := s.engine.If(when)
	if in.file {
		return s.putFile(ctx, to, in.Namespace, in.ID, &in.DocumentBody)
	}
	var body DocumentRequest
	if err := in.decode(&body); err != nil {
		return nil, err
	}
	return s.putText(ctx, to, in.Namespace, in.ID, body)
}

func (s *Server) postDocument(ctx context.Context, in *documentPostInput) (*documentPutOutput, error) {
	to := s.engine.If(store.Condition{})
	newID := cmp.Or(seedOf(ctx), s.engine.NewID())
	if in.file {
		name, err := in.readForm()
		if err != nil {
			return nil, err
		}
		return s.putFile(ctx, to, in.Namespace, cmp.Or(in.ID, name, newID), &in.DocumentBody)
	}
	var body newDocumentRequest
	if err := in.decode(&body); err != nil {
		return nil, err
	}
	switch {
	case in.ID != "":
		return nil, invalid(Fault{Location: "query.id", Message: "is for files; put it into the JSON"})
	case body.URL != "" && body.Source != "" && body.URL != body.Source:
		return nil, ragctx.Invalid("url", "contradicts source; send one of them")
	case body.URL != "" && body.Text == "":
		return nil, ragctx.Invalid("url", "is not fetched by the server; send the text of the page too, or run 'ragctx ingest URL'")
	}
	body.Source = cmp.Or(body.Source, body.URL)
	return s.putText(ctx, to, in.Namespace, cmp.Or(body.ID, body.URL, newID), body.DocumentRequest)
}

// stored is the answer to a stored document.
func stored(id string, done store.Put, err error) (*documentPutOutput, error) {
	return &documentPutOutput{
		created(done.Status), tagOfRevision(done.Revision), documentPut{id, done.Version, done.Status, done.Chunks},
	}, err
}

// decode reads the JSON of a document.
func (d *DocumentBody) decode(to any) error {
	if faults := d.misplaced(); len(faults) > 0 {
		return invalid(faults...)
	}
	if err := json.Unmarshal(d.body.take(), to); err != nil {
		return invalid(Fault{Location: "body", Message: "cannot be read: " + err.Error()})
	}
	return nil
}

// putText stores a document sent as JSON.
func (s *Server) putText(ctx context.Context, to engine.Conditional, namespace, id string, r DocumentRequest) (*documentPutOutput, error) {
	done, err := to.PutDocument(ctx, namespace, ragctx.Document{
		ExternalID: id, Title: r.Title, Source: r.Source, MIME: r.MIME, Text: r.Text,
		Tags: r.Tags, Metadata: r.Metadata, Occurred: r.Occurred, Chunk: r.Chunk.options(),
	}, r.Root)
	return stored(id, done, err)
}

// misplaced returns the faults of file parameters sent with JSON.
func (d *FileAttributes) misplaced() []Fault {
	var faults []Fault
	for _, p := range [...]struct {
		name string
		set  bool
	}{
		{"title", d.Title != ""},
		{"source", d.Source != ""},
		{"tags", len(d.Tags) > 0},
		{"metadata", d.Metadata != ""},
		{"occurred", d.Occurred != ""},
		{"root", d.Root != ""},
	} {
		if p.set {
			faults = append(faults, Fault{Location: "query." + p.name, Message: "is for files; put it into the JSON"})
		}
	}
	return faults
}

// putFile stores a document sent as a file.
func (s *Server) putFile(ctx context.Context, to engine.Conditional, namespace, id string, in *DocumentBody) (*documentPutOutput, error) {
	d := ragctx.Document{ExternalID: id, Title: in.Title, Source: in.Source, Tags: in.Tags, MIME: fileType(in.media)}
	if in.Metadata != "" {
		meta := Metadata{}
		dec := json.NewDecoder(strings.NewReader(in.Metadata))
		dec.UseNumber()
		if err := dec.Decode(&meta); err != nil || dec.More() || meta == nil {
			return nil, invalid(Fault{
				Location: "query.metadata",
				Message:  `is no JSON object; send one such as {"team": "ops"}, percent-encoded`,
			})
		}
		d.Metadata = meta
	}
	if in.Occurred != "" {
		t, err := time.Parse(time.RFC3339, in.Occurred)
		if err != nil {
			return nil, invalid(Fault{
				Location: "query.occurred",
				Message:  fmt.Sprintf("is %q; use a time such as 2026-03-01T12:00:00Z", ragctx.Clip(in.Occurred)),
			})
		}
		d.Occurred = t
	}
	done, err := to.PutFile(ctx, namespace, d, in.body.take(), in.Root)
	return stored(id, done, err)
}

// fileType returns the type that a declared one implies; "" if it only says file or plain text.
func fileType(value string) string {
	media, params, err := mime.ParseMediaType(value)
	if err != nil || media == anyFile || media == "text/plain" && params["charset"] == "" {
		return ""
	}
	return value
}

// PutFile calls [engine.Documents.PutFile] on the server.
func (c *Client) PutFile(ctx context.Context, namespace string, d ragctx.Document, data []byte,
	root string,
) (store.Put, error) {
	q := in(namespace)
	set(q, "title", d.Title)
	set(q, "source", d.Source)
	set(q, "root", root)
	if len(d.Tags) > 0 {
		q["tags"] = d.Tags
	}
	if len(d.Metadata) > 0 {
		b, err := json.Marshal(d.Metadata)
		if err != nil {
			return store.Put{}, fmt.Errorf("%w: encode metadata: %w", ragctx.ErrInvalid, err)
		}
		q.Set("metadata", string(b))
	}
	if !d.Occurred.IsZero() {
		q.Set("occurred", d.Occurred.Format(time.RFC3339Nano))
	}
	req, err := c.request(ctx, http.MethodPut, documentPath(d.ExternalID), q, nil)
	if err != nil {
		return store.Put{}, err
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	media := d.MIME
	if media == "" {
		media = anyFile
	}
	req.Header.Set(echo.HeaderContentType, media)
	var put documentPut
	err = c.answer(req, &put)
	return store.Put{Status: put.Status, Version: put.Version, Chunks: put.Chunks}, err
}
