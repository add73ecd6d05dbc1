package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const putDocuments = "put-documents"

const (
	linesType = "application/x-ndjson"
	formType  = "multipart/form-data"
)

// bulkRemedy is the remedy for a body that is too long.
const bulkRemedy = "split it into several requests"

// maxBulkWait is the longest wait that a bulk request may ask for.
const maxBulkWait = 5 * time.Minute

// BulkLine is a line of a bulk request: a document to store or an id to delete.
type BulkLine struct {
	ID      string `json:"id,omitempty" doc:"id of the document to store, 1 to 512 bytes of UTF-8" example:"docs/a.md"`
	Delete  string `json:"delete,omitempty"`
	Version int    `json:"version,omitempty" minimum:"1" doc:"for a deletion: delete only this version of this root"`
	Text    string `json:"text,omitempty" doc:"the whole text, at most 32 MiB; default is the title"`

	Title     string    `json:"title,omitempty"`
	Source    string    `json:"source,omitempty" doc:"origin of the text, at most 4 KiB" example:"file:docs/a.md"`
	MIME      string    `json:"mime,omitempty" maxLength:"512" example:"text/markdown"`
	Tags      []string  `json:"tags,omitempty" maxItems:"64"`
	Metadata  Metadata  `json:"metadata,omitempty"`
	Occurred  time.Time `json:"occurred,omitzero" doc:"time of the events in the document"`
	Root      string    `json:"root,omitempty"`
	Chunk     *Sizes    `json:"chunk,omitempty" doc:"chunk sizes; default is 400 characters, at most 1200"`
	MovedFrom string    `json:"moved_from,omitempty"`
	Stat      string    `json:"stat,omitempty" maxLength:"512"`
}

// Sizes are chunk lengths in characters.
type Sizes struct {
	Target int `json:"target_chars,omitempty" minimum:"0" maximum:"100000"`
	Max    int `json:"max_chars,omitempty" minimum:"0" maximum:"100000"`
}

// SizesOf returns the sizes to send; nil means the defaults.
func SizesOf(o ragctx.ChunkSizes) *Sizes {
	if o == (ragctx.ChunkSizes{}) {
		return nil
	}
	return &Sizes{Target: o.TargetChars, Max: o.MaxChars}
}

func (s *Sizes) options() ragctx.ChunkSizes {
	if s == nil {
		return ragctx.ChunkSizes{}
	}
	return ragctx.ChunkSizes{TargetChars: s.Target, MaxChars: s.Max}
}

// bulkOptions is the form part named options.
type bulkOptions struct {
	Prefix string   `json:"prefix,omitempty" maxLength:"512" example:"handbook/"`
	Tags   []string `json:"tags,omitempty" maxItems:"64" doc:"tags of every document"`
	Root   string   `json:"root,omitempty" doc:"source that the documents were ingested from"`
}

// bulkInput is a bulk request. The handler reads its body.
type bulkInput struct {
	Scoped
	Wait string `query:"wait" example:"30s"`

	c echo.Context
}

// Resolve implements [huma.Resolver]; it keeps the request.
func (b *bulkInput) Resolve(ctx huma.Context) []error {
	b.c = humaecho.Unwrap(ctx)
	return nil
}

type bulkOutput struct {
	Status   int
	Location string `header:"Location" doc:"URL of the job"`
	Replayed string `header:"Idempotency-Replayed" doc:"true if this is the stored answer to an earlier request with the same key"`
	Body     engine.Job
}

// Paths with an escaped colon, which would begin a parameter in echo.
const (
	bulkPath       = `/v1/documents\:bulk`
	duplicatesPath = `/v1/documents\:duplicates`
)

func (s *Server) bulkRoutes() {
	lines, form := new(huma.MediaType), new(huma.MediaType)
	register(s, huma.Operation{
		OperationID: putDocuments, Method: http.MethodPost, Path: bulkPath, Tags: []string{coreGroup},
		Summary: "Store and delete many documents", DefaultStatus: http.StatusAccepted,
		Description: "The server answers once all documents are on disk, with a job that processes them and " +
			"survives a restart; 200 if the job has already ended (see wait). An error in a line or a file fails " +
			"only that item of the job. An interrupted request leaves nothing behind. Lines for the same " +
			"document are processed in order.",
		RequestBody: &huma.RequestBody{
			Required: true,
			Description: "One JSON object per line; or a form with files, after an optional part named options. " +
				"The name of a file is its document id. A file with several documents, such as an archive, " +
				"yields one document each; their ids append a slash and the path inside.",
			Content: map[string]*huma.MediaType{linesType: lines, formType: form},
		},
	}, s.putDocuments, http.StatusOK)
	// With a schema, huma would read the whole body.
	lines.Schema = s.schemaOf(reflect.TypeFor[BulkLine]())
	form.Schema = &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"options": s.schemaOf(reflect.TypeFor[bulkOptions]()),
		"file":    {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
	}}
}

func (s *Server) putDocuments(ctx context.Context, in *bulkInput) (*bulkOutput, error) {
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	if !hasKey(in.c.Request()) {
		j, err := s.spool(ctx, in, nil, engine.DocumentQueueOptions{})
		if err != nil {
			return nil, err
		}
		return s.accepted(ctx, in, j, wait)
	}
	key, err := requestKey(in.c.Request(), &huma.Operation{Method: http.MethodPost, Path: bulkPath}, in.Namespace)
	if err != nil {
		return nil, err
	}
	return s.putDocumentsOnce(ctx, in, key, wait)
}

// putDocumentsOnce handles a bulk request with an idempotency key. The body must be read to compare
// it, so it is spooled first unless the job exists already.
func (s *Server) putDocumentsOnce(ctx context.Context, in *bulkInput, k store.RequestKey,
	wait time.Duration,
) (*bulkOutput, error) {
	leave, err := s.inProgress.enter(ctx, k)
	if err != nil {
		return nil, err
	}
	defer leave()
	seed, j, known, err := s.knownJob(ctx, k)
	if err != nil {
		return nil, err
	}
	h := requestHash(in.c.Request())
	begin := func() error {
		_, err := s.engine.Requests().Begin(ctx, k, h.Sum(nil), seed)
		return keyError(err)
	}
	if !known {
		j, err = s.spool(ctx, in, h, engine.DocumentQueueOptions{ID: seed, Before: begin})
	} else if err = s.drain(in, h); err == nil {
		err = begin() // only to check that the request is the same
	}
	if err != nil {
		return nil, err
	}
	out, err := s.accepted(ctx, in, j, wait)
	if known && out != nil {
		out.Replayed = "true"
	}
	return out, err
}

// knownJob returns the job id of a request, and the job if it exists.
func (s *Server) knownJob(ctx context.Context, k store.RequestKey) (id string, j engine.Job, known bool, err error) {
	a, _, err := s.engine.Requests().Known(ctx, k)
	if err != nil || a.Seed == "" {
		return s.engine.NewID(), j, false, err
	}
	j, err = s.engine.Jobs().Get(ctx, a.Seed)
	if errors.Is(err, ragctx.ErrNotFound) {
		return a.Seed, j, false, nil
	}
	return a.Seed, j, err == nil, err
}

// accepted answers with the job after the requested wait.
func (s *Server) accepted(ctx context.Context, in *bulkInput, j engine.Job, wait time.Duration) (*bulkOutput, error) {
	ctl := http.NewResponseController(in.c.Response())
	_ = ctl.SetWriteDeadline(time.Now().Add(writeTimeout + wait)) // unsupported writers need no deadline
	if wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		defer s.untilStop(cancel)()
		if ended, err := s.engine.Jobs().Await(waiting, j.ID); err == nil {
			j = ended
		} else if j, err = s.engine.Jobs().Get(ctx, j.ID); err != nil {
			return nil, err
		}
	}
	status := http.StatusAccepted
	if j.State.Ended() {
		status = http.StatusOK
	}
	return &bulkOutput{Status: status, Location: "/v1/jobs/" + j.ID, Body: j}, nil
}

func parseWait(value string) (time.Duration, error) {
	if value == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > maxBulkWait {
		return 0, ragctx.Invalid("wait", "is %q; use a time such as 30s, at most %s", ragctx.Clip(value), maxBulkWait)
	}
	return d, nil
}

// spool turns the body of a request into a job. h, if not nil, receives all bytes read.
func (s *Server) spool(ctx context.Context, in *bulkInput, h hash.Hash,
	o engine.DocumentQueueOptions,
) (j engine.Job, err error) {
	form, boundary, p := bulkType(in.c.Request().Header)
	if p != nil {
		return j, p
	}
	o.Namespace, o.MaxItems, o.MaxBytes = in.Namespace, s.opts.MaxBulkItems, s.opts.MaxBulkBytes
	sp, err := s.engine.Jobs().QueueDocuments(ctx, o)
	if err != nil {
		return j, err
	}
	defer func() {
		if cerr := sp.Close(); cerr != nil {
			s.log.ErrorContext(ctx, "bulk request", "request_id", requestID(ctx), "error", cerr)
		}
	}()
	body := s.bulkBody(in, h)
	if form {
		err = s.spoolForm(ctx, sp, body, boundary)
	} else {
		err = s.spoolLines(ctx, sp, body)
	}
	if body.err != nil { // the reader of the body may have wrapped the error
		err = bodyProblem(in.c, body.err, bulkRemedy)
	}
	if err != nil {
		return j, err
	}
	return sp.Accept(ctx)
}

// drain reads the rest of the body into h.
func (s *Server) drain(in *bulkInput, h hash.Hash) error {
	body := s.bulkBody(in, h)
	if _, err := io.Copy(io.Discard, body); err != nil {
		return bodyProblem(in.c, err, bulkRemedy)
	}
	return nil
}

// bulkType reports whether a body is a form, and returns its boundary.
func bulkType(h http.Header) (form bool, boundary string, p *Problem) {
	value := h.Get(echo.HeaderContentType)
	media, params, err := mime.ParseMediaType(value)
	lines := []string{linesType, "application/ndjson", "application/jsonl", "application/x-jsonlines"}
	charset := params["charset"]
	f := Fault{Location: "header.Content-Type", Message: fmt.Sprintf("is %q; send %s or %s", ragctx.Clip(value),
		linesType, formType)}
	switch encoding := h.Get(echo.HeaderContentEncoding); {
	case encoding != "":
		f = Fault{Location: "header.Content-Encoding", Message: fmt.Sprintf("is %q; send the body uncompressed",
			ragctx.Clip(encoding))}
	case err != nil || charset != "" && !strings.EqualFold(charset, "utf-8"):
	case media == formType && params["boundary"] != "":
		return true, params["boundary"], nil
	case slices.Contains(lines, media):
		return false, "", nil
	}
	return false, "", newProblem(http.StatusUnsupportedMediaType, codeMediaType, "the body has an unsupported "+
		"content type", f)
}

// bulkBody is a body that may arrive slowly, as long as it does not stall.
type bulkBody struct {
	r   io.Reader
	ctl *http.ResponseController
	err error // error that ended it, other than io.EOF
}

// bulkBody returns the body of a request. h, if not nil, receives all bytes read.
func (s *Server) bulkBody(in *bulkInput, h hash.Hash) *bulkBody {
	// JSON escapes lengthen a text, and forms have overhead.
	limit := 2 * cmp.Or(s.opts.MaxBulkBytes, engine.DefaultMaxBulkBytes)
	b := &bulkBody{
		r:   http.MaxBytesReader(in.c.Response().Writer, in.c.Request().Body, limit),
		ctl: http.NewResponseController(in.c.Response()),
	}
	if h != nil {
		b.r = io.TeeReader(b.r, h)
	}
	return b
}

// Read implements [io.Reader].
func (b *bulkBody) Read(p []byte) (int, error) {
	now := time.Now()
	_ = b.ctl.SetReadDeadline(now.Add(readTimeout)) // unsupported writers need no deadline
	_ = b.ctl.SetWriteDeadline(now.Add(writeTimeout))
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// untilStop calls stop when the server shuts down, unless the returned func was called before.
func (s *Server) untilStop(stop func()) func() {
	done := make(chan struct{})
	go func() {
		select {
		case <-s.stopping:
			stop()
		case <-done:
		}
	}()
	return func() { close(done) }
}

var _ huma.Resolver = (*bulkInput)(nil)
