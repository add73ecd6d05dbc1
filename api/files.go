package api

import (
	"bytes"
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
func (s *Server) documentBody() *huma.RequestBody {
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	b := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		jsonType: {Schema: s.schemaOf(reflect.TypeFor[documentRequest]())},
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
	if p := checkFileType(r.Header); p != nil {
		return nil, p
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
	put := s.putText
	if in.file {
		put = s.putFile
	}
	done, err := put(ctx, in, s.engine.If(when))
	return &documentPutOutput{
		created(done.Status), tagOfRevision(done.Revision),
		documentPut{in.ID, done.Version, done.Status, done.Chunks},
	}, err
}

// putText stores a document sent as JSON.
func (s *Server) putText(ctx context.Context, in *documentPutInput, to engine.Conditional) (store.Put, error) {
	if faults := in.misplaced(); len(faults) > 0 {
		return store.Put{}, invalid(faults...)
	}
	var body documentRequest
	if err := json.Unmarshal(in.body.take(), &body); err != nil {
		return store.Put{}, invalid(Fault{Location: "body", Message: "cannot be read: " + err.Error()})
	}
	return to.PutDocument(ctx, in.Namespace, ragctx.Document{
		ExternalID: in.ID, Title: body.Title, Source: body.Source, MIME: body.MIME, Text: body.Text,
		Tags: body.Tags, Metadata: body.Metadata, Occurred: body.Occurred, Chunk: body.Chunk.options(),
	}, body.Root)
}

// misplaced returns the faults of file parameters sent with JSON.
func (d *documentPutInput) misplaced() []Fault {
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
func (s *Server) putFile(ctx context.Context, in *documentPutInput, to engine.Conditional) (store.Put, error) {
	d := ragctx.Document{ExternalID: in.ID, Title: in.Title, Source: in.Source, Tags: in.Tags, MIME: fileType(in.media)}
	if in.Metadata != "" {
		meta := Metadata{}
		dec := json.NewDecoder(strings.NewReader(in.Metadata))
		dec.UseNumber()
		if err := dec.Decode(&meta); err != nil || dec.More() || meta == nil {
			return store.Put{}, invalid(Fault{
				Location: "query.metadata",
				Message:  `is no JSON object; send one such as {"team": "ops"}, percent-encoded`,
			})
		}
		d.Metadata = meta
	}
	if in.Occurred != "" {
		t, err := time.Parse(time.RFC3339, in.Occurred)
		if err != nil {
			return store.Put{}, invalid(Fault{
				Location: "query.occurred",
				Message:  fmt.Sprintf("is %q; use a time such as 2026-03-01T12:00:00Z", ragctx.Clip(in.Occurred)),
			})
		}
		d.Occurred = t
	}
	return to.PutFile(ctx, in.Namespace, d, in.body.take(), in.Root)
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
