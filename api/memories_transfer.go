package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// maxMemoryLine fits a memory with every character escaped.
const maxMemoryLine = 8 << 20

// maxLineErrors is how many errors of an import are listed.
const maxLineErrors = 1000

// MemoryImport counts the results of an import.
type MemoryImport struct {
	Created   int         `json:"created"`
	Replaced  int         `json:"replaced"`
	Unchanged int         `json:"unchanged"`
	Failed    int         `json:"failed"`
	Errors    []LineError `json:"errors" nullable:"false" doc:"errors of the failed lines, at most 1000"`
}

// LineError is the error of a line.
type LineError struct {
	Line  int    `json:"line" doc:"counts from 1"`
	ID    string `json:"id,omitempty"`
	Error string `json:"error"`
}

// importFunc stores one memory, as [engine.Memories.Import] does.
type importFunc func(ctx context.Context, m ragctx.Memory) (ragctx.Memory, store.Status, error)

// exportMemories writes the memories that match a filter, one JSON object per line in order of ids,
// optionally with their history. Concurrent changes may or may not be included.
func exportMemories(ctx context.Context, from engine.Memories, namespace string, f store.MemoryFilter,
	history bool, w io.Writer,
) error {
	f.Order = store.ByID
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := engine.EachPage(ctx, from.List, namespace, f, 0, func(page []ragctx.Memory) error {
		for _, m := range page {
			var changes []ragctx.MemoryChange
			if history {
				var err error
				changes, err = from.History(ctx, namespace, m.ID, engine.Viewer{Anyone: true})
				if errors.Is(err, ragctx.ErrNotFound) {
					continue // erased concurrently
				}
				if err != nil {
					return err
				}
			}
			if err := enc.Encode(lineOf(m, changes)); err != nil {
				return fmt.Errorf("write memories: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// importMemoryLines stores exported memories, line by line, in a namespace. It reports invalid
// lines in the result and continues; an error aborts the import. Repeating an import changes
// nothing.
func importMemoryLines(ctx context.Context, to importFunc, namespace string, r io.Reader) (MemoryImport, error) {
	in := importer{
		store: to, namespace: namespace, schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
		done: MemoryImport{Errors: []LineError{}},
	}
	in.schema = in.schemas.Schema(reflect.TypeFor[memoryLine](), true, "")
	lines := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	for n := 1; ; n++ {
		line, whole, err := readLine(lines, buf[:0], maxMemoryLine, func(int) error { return nil })
		if err != nil && !errors.Is(err, io.EOF) {
			return in.done, fmt.Errorf("read memories: %w", err)
		}
		buf = line
		switch line = bytes.TrimSpace(line); {
		case !whole:
			in.fail(n, "", ragctx.TooLarge("line", "is longer than %d bytes", maxMemoryLine))
		case len(line) > 0:
			if err := in.line(ctx, n, line); err != nil {
				return in.done, err
			}
		}
		if err != nil { // io.EOF: the last line
			return in.done, nil //nolint:nilerr // the end of the body is not an error
		}
	}
}

// importer is an import in progress.
type importer struct {
	store     importFunc
	namespace string
	schemas   huma.Registry
	schema    *huma.Schema
	done      MemoryImport
}

func (in *importer) fail(n int, id string, err error) {
	in.done.Failed++
	if len(in.done.Errors) < maxLineErrors {
		in.done.Errors = append(in.done.Errors, LineError{n, id, err.Error()})
	}
}

// line imports a line. An error aborts the import.
func (in *importer) line(ctx context.Context, n int, line []byte) error {
	l, err := in.read(line)
	var m ragctx.Memory
	if err == nil {
		m, err = l.memory(in.namespace)
	}
	if err != nil {
		in.fail(n, l.ID, err)
		return nil
	}
	_, status, err := in.store(ctx, m)
	if err != nil {
		if _, code := ragctx.CodeOf(err); code >= http.StatusInternalServerError || ctx.Err() != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		in.fail(n, l.ID, err)
		return nil
	}
	counts := map[store.Status]*int{
		store.Created: &in.done.Created, store.Replaced: &in.done.Replaced, store.Unchanged: &in.done.Unchanged,
	}
	if n := counts[status]; n != nil {
		*n++
	}
	return nil
}

func (in *importer) read(line []byte) (memoryLine, error) {
	var l memoryLine
	faults, serr := checkJSON(line, in.schema, in.schemas)
	if serr != nil {
		return l, faultError(Fault{Location: "line", Message: "is not valid JSON: " + serr.Message})
	}
	if err := json.Unmarshal(line, &l); err != nil && len(faults) == 0 {
		return l, ragctx.Invalid("line", "cannot be read: %v", err)
	}
	if len(faults) > 0 {
		return l, faultError(faults...)
	}
	return l, nil
}

type memoryExport struct {
	MemoryConditions
	History bool `query:"history" doc:"include the history of each memory"`
}

type memoryImport struct {
	Scoped

	c echo.Context
}

// Resolve implements [huma.Resolver]; it keeps the request.
func (m *memoryImport) Resolve(ctx huma.Context) []error {
	m.c = humaecho.Unwrap(ctx)
	return nil
}

type memoryImportOutput struct{ Body MemoryImport }

const (
	exportPath = `/v1/memories\:export`
	importPath = `/v1/memories\:import`
)

func (s *Server) transferRoutes() {
	lines := new(huma.MediaType)
	register(s, huma.Operation{
		OperationID: "export-memories", Method: http.MethodGet, Path: exportPath, Tags: []string{coreGroup},
		Summary: "Export memories",
		Description: "One JSON object per line, in order of the ids: current memories with their facts and " +
			"evidence.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The memories.", Content: map[string]*huma.MediaType{linesType: lines},
		}},
	}, s.exportMemories)
	register(s, huma.Operation{
		OperationID: "import-memories", Method: http.MethodPost, Path: importPath, Tags: []string{coreGroup},
		Summary: "Import memories", DefaultStatus: http.StatusOK,
		Description: "Imports exported memories. Ids, times of occurrence and types are preserved; the time of " +
			"recording is now. An invalid line fails alone. Repeating an import changes nothing.",
		RequestBody: &huma.RequestBody{
			Required: true, Description: "One JSON object per line.",
			Content: map[string]*huma.MediaType{linesType: lines},
		},
	}, s.importMemories)
	lines.Schema = s.schemaOf(reflect.TypeFor[memoryLine]())
}

func (s *Server) exportMemories(_ context.Context, in *memoryExport) (*huma.StreamResponse, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	return s.streamed(linesType, "memories.ndjson", func(ctx context.Context, w io.Writer) error {
		return exportMemories(ctx, s.engine.Memories(), in.Namespace, f, in.History, w)
	}), nil
}

func (s *Server) importMemories(ctx context.Context, in *memoryImport) (*memoryImportOutput, error) {
	var out memoryImportOutput
	err := s.importLines(in.c, func(body io.Reader) (err error) {
		out.Body, err = importMemoryLines(ctx, s.importMemory, in.Namespace, body)
		return err
	})
	return &out, err
}

// importMemory stores a memory after waiting at the gate.
func (s *Server) importMemory(ctx context.Context, m ragctx.Memory) (ragctx.Memory, store.Status, error) {
	leave, err := s.enter(ctx, itemsLast)
	if err != nil {
		return m, "", err
	}
	defer leave()
	return s.engine.Memories().Import(ctx, m)
}

// importLines calls read with the body of a request that has one JSON object per line.
func (s *Server) importLines(c echo.Context, read func(body io.Reader) error) error {
	form, _, p := bulkType(c.Request().Header)
	if p != nil || form {
		return newProblem(http.StatusUnsupportedMediaType, codeMediaType, "the body has an unsupported content type",
			Fault{Location: "header.Content-Type", Message: "is not " + linesType + "; send one JSON object per line"})
	}
	body := s.bulkBody(&bulkInput{c: c}, nil)
	err := read(body)
	if body.err != nil {
		return bodyProblem(c, body.err, bulkRemedy)
	}
	return err
}

// ExportMemories downloads an export of memories.
func (c *Client) ExportMemories(ctx context.Context, namespace string, f store.MemoryFilter, history bool,
	w io.Writer,
) error {
	f.Limit = 0
	q := narrowing(namespace, f)
	if history {
		q.Set("history", "true")
	}
	return c.download(ctx, memoriesPath+":export", q, "memories", w)
}

// ImportMemories uploads an export of memories.
func (c *Client) ImportMemories(ctx context.Context, namespace string, r io.Reader) (MemoryImport, error) {
	var done MemoryImport
	err := c.upload(ctx, memoriesPath+":import", in(namespace), r, &done)
	return done, err
}
