package api

import (
	"context"
	"errors"
	"hash"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/session"
)

// SessionImport is the result of an import.
type SessionImport struct {
	Session     Session        `json:"session" doc:"the new session"`
	Quarantined []SessionFault `json:"quarantined" nullable:"false"`
	Failed      int            `json:"failed" doc:"number of rejected lines"`
}

// SessionFault is a rejected line.
type SessionFault struct {
	Line   int    `json:"line" doc:"counts from 1"`
	Text   string `json:"text" doc:"the line, or its beginning"`
	Reason string `json:"reason" doc:"reason for the rejection"`
}

type sessionImport struct {
	SessionKey

	c echo.Context
}

// Resolve implements [huma.Resolver]; it keeps the request.
func (i *sessionImport) Resolve(ctx huma.Context) []error {
	i.c = humaecho.Unwrap(ctx)
	return nil
}

const importSession = "import-session"

// maxSessionLines is the maximum bytes of an imported session: JSON is longer than the stored form.
const maxSessionLines = 4 * session.MaxBytes

type sessionImportOutput struct {
	SessionTag

	Body SessionImport
}

func (s *Server) sessionTransferRoutes() {
	lines := new(huma.MediaType)
	export := sessionOp("export-session", http.MethodGet, verbPath(sessionsRoot, "export"), "Export a session",
		"One JSON object per line: the session, then the messages of all branches, labels and compactions. "+
			"Observations are not included.")
	export.Responses = map[string]*huma.Response{"200": {
		Description: "The session.",
		Content:     map[string]*huma.MediaType{linesType: lines},
	}}
	register(s, export, s.exportSession)
	take := sessionOp(importSession, http.MethodPost, verbPath(sessionsRoot, "import"), "Import a session",
		"Creates a session from an export, or from a Cognesy file. Message ids and times are preserved; the "+
			"session takes the id in the path. Unreadable lines are quarantined; a message after a lost one follows the "+
			"message before it. An existing session id is 409.")
	take.DefaultStatus = http.StatusCreated
	take.RequestBody = &huma.RequestBody{
		Required: true, Description: "One JSON object per line.",
		Content: map[string]*huma.MediaType{linesType: lines},
	}
	register(s, take, s.importSession)
	// With a schema, huma would read the whole body.
	lines.Schema = &huma.Schema{
		Type: huma.TypeObject, Description: "record of type session, message, label or compaction",
		Properties: map[string]*huma.Schema{"type": {Type: huma.TypeString, Description: "type of the record"}},
	}
}

func (s *Server) exportSession(_ context.Context, in *SessionKey) (*huma.StreamResponse, error) {
	return s.streamed(linesType, "session.jsonl", func(ctx context.Context, w io.Writer) error {
		a, _, err := session.Export(ctx, s.engine.Sessions().Storage(), in.kept())
		if err != nil {
			return err
		}
		return session.WriteJSONL(w, a)
	}), nil
}

func (s *Server) importSession(ctx context.Context, in *sessionImport) (*sessionImportOutput, error) {
	k := in.kept()
	read, ok := in.c.Get(importSession).(sessionRead)
	if !ok {
		memory := s.bodies.reserve(importSession)
		defer memory.release()
		var err error
		if read, err = s.readSession(in.c, io.Discard, memory); err != nil {
			return nil, err
		}
	}
	leave, err := s.enter(ctx, itemsLast)
	if err != nil {
		return nil, err
	}
	defer leave()
	at, err := s.engine.Sessions().Storage().Create(ctx, k, read.archive, seedOf(ctx))
	if err != nil {
		return nil, err
	}
	out := SessionImport{Failed: len(read.bad), Quarantined: []SessionFault{}}
	for _, q := range read.bad[:min(len(read.bad), maxLineErrors)] {
		out.Quarantined = append(out.Quarantined, SessionFault(q))
	}
	d, err := s.sessionAt(ctx, k, at)
	out.Session = d.Body
	return &sessionImportOutput{d.SessionTag, out}, err
}

// sessionRead is the parsed body of an import.
type sessionRead struct {
	archive session.Archive
	bad     []session.Quarantined
}

// readSession parses the body of an import up to the size limit and copies all of it into sum.
func (s *Server) readSession(c echo.Context, sum io.Writer, memory *reservation) (read sessionRead, err error) {
	err = s.importLines(c, func(body io.Reader) (err error) {
		kept := &reservedReader{ctx: c.Request().Context(), r: body, held: memory}
		limited := http.MaxBytesReader(c.Response().Writer, io.NopCloser(kept), maxSessionLines)
		read.archive, read.bad, err = session.ReadJSONL(io.TeeReader(limited, sum))
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			return bodyProblem(c, err, "import a session of its newer messages")
		}
		return err
	})
	return read, err
}

// importSessionOnce answers an import with an idempotency key. The hash covers the whole body,
// which is not stored.
func (s *Server) importSessionOnce(c echo.Context, op *huma.Operation, next func(seed string)) error {
	memory := s.bodies.reserve(importSession)
	defer memory.release()
	return s.onceIn(c, op, c.QueryParam("namespace"), func(sum hash.Hash) error {
		read, err := s.readSession(c, sum, memory)
		if err != nil {
			return err
		}
		c.Set(importSession, read)
		return nil
	}, next)
}

// ExportSession writes a session as JSON lines.
func (c *Client) ExportSession(ctx context.Context, k session.Key, w io.Writer) error {
	return c.download(ctx, keptAt(k)+":export", ofKept(k), "session", w)
}

// ImportSession creates a session from JSON lines.
func (c *Client) ImportSession(ctx context.Context, k session.Key, r io.Reader) (out SessionImport, err error) {
	err = c.upload(ctx, keptAt(k)+":import", ofKept(k), r, &out)
	return out, err
}
