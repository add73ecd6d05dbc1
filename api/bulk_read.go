package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// spoolLines reads one JSON object per line. Blank lines count as lines, but not as items.
func (s *Server) spoolLines(ctx context.Context, sp *engine.DocumentQueue, body io.Reader) error {
	r := bufio.NewReaderSize(body, 64<<10)
	schema := s.schemaOf(reflect.TypeFor[BulkLine]())
	memory := s.bodies.reserve(putDocuments)
	defer memory.release()
	var buf []byte
	for n := 1; ; n++ {
		line, whole, err := readLine(r, buf[:0], s.opts.MaxBodyBytes,
			func(size int) error { return memory.grow(ctx, int64(size)) })
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		buf = line
		switch line = bytes.TrimSpace(line); {
		case !whole:
			why := ragctx.TooLarge("text", "is in a line of more than %d bytes; split the document", s.opts.MaxBodyBytes)
			if serr := sp.Reject(ctx, n, store.OpPut, "", why); serr != nil {
				return serr
			}
		case len(line) > 0:
			if serr := s.spoolLine(ctx, sp, n, line, schema); serr != nil {
				return serr
			}
		}
		if err != nil { // io.EOF: the last line
			return nil
		}
		if cap(buf) > smallBody {
			buf = nil
		}
		memory.release()
	}
}

// readLine appends a line to buf. It reads a line of more than limit bytes to its end, but does not
// return all of it. The last line ends with [io.EOF]. room is asked for memory before the buffer
// grows.
func readLine(r *bufio.Reader, buf []byte, limit int64, room func(size int) error) (line []byte, whole bool,
	err error,
) {
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if whole = whole && int64(len(buf)+len(part)) <= limit; whole {
			if need := len(buf) + len(part); need > cap(buf) {
				if err := room(2 * need); err != nil {
					return nil, false, err
				}
				buf = slices.Grow(buf, 2*need-len(buf))
			}
			buf = append(buf, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, whole, err
		}
	}
}

func (s *Server) schemaOf(t reflect.Type) *huma.Schema {
	schemas := s.api.OpenAPI().Components.Schemas
	return schemas.Schema(t, true, "")
}

// spoolLine reads one line. An invalid line fails only its own item.
func (s *Server) spoolLine(ctx context.Context, sp *engine.DocumentQueue, n int, line []byte,
	schema *huma.Schema,
) error {
	leave, err := s.enter(ctx, itemsLast)
	if err != nil {
		return err
	}
	defer leave()
	var in BulkLine
	faults, serr := checkJSON(line, schema, s.api.OpenAPI().Components.Schemas)
	if serr != nil {
		return sp.Reject(ctx, n, store.OpPut, "", faultError(Fault{
			Location: "body",
			Message:  "is not valid JSON: " + serr.Message,
		}))
	}
	err = json.Unmarshal(line, &in)
	op, id := store.OpPut, in.ID
	if in.Delete != "" {
		op, id = store.OpDelete, in.Delete
	}
	switch {
	case len(faults) > 0:
		return sp.Reject(ctx, n, op, id, faultError(faults...))
	case err != nil:
		return sp.Reject(ctx, n, op, id, ragctx.Invalid("line", "cannot be read: %v", err))
	case in.Delete == "" && in.Version != 0:
		return sp.Reject(ctx, n, op, id, ragctx.Invalid("version", "is for deletions; leave it out"))
	case in.Delete == "":
		return sp.Put(ctx, n, in.document(), engine.Origin{Root: in.Root, MovedFrom: in.MovedFrom, Stat: in.Stat})
	case !reflect.DeepEqual(in, BulkLine{Delete: in.Delete, Root: in.Root, Version: in.Version}):
		return sp.Reject(ctx, n, op, id, ragctx.Invalid("delete", "cannot be combined with other fields; send it "+
			"alone in its line, or with root and version"))
	case in.Root != "" && in.Version == 0:
		return sp.Reject(ctx, n, op, id, ragctx.Invalid("version", "is missing next to root; send both, or neither"))
	default:
		return sp.Drop(ctx, n, store.FileState{ID: in.Delete, Root: in.Root, Version: in.Version})
	}
}

// faultError returns the faults of a line as an error about the first field.
func faultError(faults ...Fault) error {
	field := strings.TrimPrefix(strings.TrimPrefix(faults[0].Location, "body"), ".")
	var text strings.Builder
	text.WriteString(faults[0].Message)
	for _, f := range faults[1:] {
		text.WriteString("; " + strings.TrimPrefix(f.Location, "body.") + " " + f.Message)
	}
	return ragctx.Invalid(cmp.Or(field, "line"), "%s", text.String())
}

func (l BulkLine) document() ragctx.Document {
	return ragctx.Document{
		ExternalID: l.ID, Text: l.Text, Title: l.Title, Source: l.Source, MIME: l.MIME,
		Tags: l.Tags, Metadata: l.Metadata, Occurred: l.Occurred, Chunk: l.Chunk.options(),
	}
}

// spoolForm reads the files of a form.
func (s *Server) spoolForm(ctx context.Context, sp *engine.DocumentQueue, body io.Reader, boundary string) error {
	form := multipart.NewReader(body, boundary)
	var o bulkOptions
	for n := 0; ; {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, body) // the rest belongs to the request as well
			return err
		}
		if err != nil {
			return badForm("cannot be read as a form: %v", err)
		}
		name, file, isFile := partNames(part)
		switch {
		case isFile:
			n, err = s.spoolFile(ctx, sp, n, file, part, o)
		case name == "options" && n == 0:
			err = s.readOptions(part, &o)
		default:
			err = badForm("has the part %q, which is no file; send files, preceded by an optional part named "+
				"options", ragctx.Clip(name))
		}
		if err != nil {
			return err
		}
	}
}

func badForm(format string, args ...any) *Problem {
	return invalid(Fault{Location: "body", Message: fmt.Sprintf(format, args...)})
}

// partNames returns the names of a part's field and file. The file name includes folders, which
// [multipart.Part.FileName] drops.
func partNames(p *multipart.Part) (field, file string, isFile bool) {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil {
		return "", "", false
	}
	file, isFile = params["filename"]
	return params["name"], file, isFile
}

func (s *Server) readOptions(part io.Reader, o *bulkOptions) error {
	const limit = 1 << 20
	b, err := io.ReadAll(io.LimitReader(part, limit+1))
	switch {
	case err != nil:
		return badForm("cannot be read as a form: %v", err)
	case len(b) > limit:
		return badForm("has options of more than %d bytes", limit)
	}
	faults, serr := checkJSON(b, s.schemaOf(reflect.TypeFor[bulkOptions]()), s.api.OpenAPI().Components.Schemas)
	if serr != nil {
		faults = []Fault{serr.Fault}
	}
	for i := range faults {
		faults[i].Location = "body.options" + strings.TrimPrefix(faults[i].Location, "body")
	}
	if len(faults) > 0 {
		return invalid(faults...)
	}
	if err := json.Unmarshal(b, o); err != nil {
		return badForm("has options that cannot be read: %v", err)
	}
	return nil
}

// spoolFile reads a file after n items and returns the new number of items.
func (s *Server) spoolFile(ctx context.Context, sp *engine.DocumentQueue, n int, name string,
	part *multipart.Part, o bulkOptions,
) (int, error) {
	memory := s.bodies.reserve(putDocuments)
	defer memory.release()
	b, err := readReserved(ctx, memory, io.LimitReader(part, s.opts.MaxFileBytes+1), -1, s.opts.MaxFileBytes+1)
	if _, is := errors.AsType[*Problem](err); is {
		return n, err
	}
	if err != nil {
		return n, badForm("cannot be read as a form: %v", err)
	}
	leave, err := s.enter(ctx, itemsLast)
	if err != nil {
		return n, err
	}
	defer leave()
	id := name
	if name != "" {
		id = o.Prefix + name
	}
	if int64(len(b)) > s.opts.MaxFileBytes {
		why := ragctx.TooLarge("file", "is more than %d bytes long; split it", s.opts.MaxFileBytes)
		return n + 1, sp.Reject(ctx, n+1, store.OpPut, id, why)
	}
	d := ragctx.Document{ExternalID: id, MIME: partType(part), Tags: slices.Clone(o.Tags)}
	before := n
	for found, err := range s.engine.Documents().Parse(ctx, d, b) {
		n++
		if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
			err = sp.Reject(ctx, n, store.OpPut, found.ExternalID, ragctx.Invalid("file", "%s", f.Problem))
		} else if err == nil {
			err = sp.Put(ctx, n, found, engine.Origin{Root: o.Root})
		}
		if err != nil {
			return n, err
		}
	}
	if n == before {
		return n + 1, sp.Reject(ctx, n+1, store.OpPut, id, ragctx.Invalid("file", "holds no documents"))
	}
	return n, nil
}

// partType returns the declared type of a part, unless the file name is more specific.
func partType(p *multipart.Part) string {
	media, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	if err != nil || media == "application/octet-stream" || media == "text/plain" {
		return ""
	}
	return media
}
