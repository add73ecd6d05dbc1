package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/internal/store"
)

// purposes of files. All are stored alike.
var purposes = []string{"assistants", "user_data", "batch", "fine-tune", "vision", "evals"}

// file is an uploaded file.
type file struct {
	ID        string `json:"id" doc:"id of the file"`
	Object    string `json:"object" doc:"always file"`
	Bytes     int64  `json:"bytes" doc:"size of the uploaded file"`
	CreatedAt int64  `json:"created_at" doc:"time of creation, in seconds since 1970"`
	Filename  string `json:"filename" doc:"name of the file"`
	Purpose   string `json:"purpose" doc:"purpose as uploaded"`
	Status    string `json:"status" doc:"always processed"`
}

func fileOf(d store.Document) file {
	r := record(d)
	return file{
		ID: lastPart(d), Object: "file", Bytes: number(r, "bytes"), CreatedAt: created(lastPart(d)), Filename: text(r, "filename"),
		Purpose: text(r, "purpose"), Status: "processed",
	}
}

type fileInput struct {
	Scope
	FileID string `path:"file_id" maxLength:"512" doc:"id of the file"`
}

type fileListInput struct {
	Scope
	Window
	Purpose string `query:"purpose" maxLength:"64" doc:"only files of this purpose"`
}

type uploadInput struct {
	Scope

	body      io.Reader
	mediaType string
}

// Resolve implements [huma.Resolver]; it keeps the body, from its start: huma has looked for a value in it.
func (in *uploadInput) Resolve(ctx huma.Context) []error {
	in.body, in.mediaType = ctx.BodyReader(), ctx.Header("Content-Type")
	if body, ok := in.body.(io.Seeker); ok {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return []error{err}
		}
	}
	return nil
}

type fileOutput struct{ Body file }

type filesOutput struct{ Body list[file] }

// textOutput is a text as a file.
type textOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *service) fileRoutes() []compat.Route {
	upload := operation("openai-upload-file", http.MethodPost, "/v1/files", "Upload a file",
		"Stores a file as a document: its text is extracted, and the original is not kept.")
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "the file"}
	purpose := &huma.Schema{Type: huma.TypeString, Description: "one of " + strings.Join(purposes, ", ")}
	upload.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {
		Schema: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": binary, "purpose": purpose}},
	}}}
	content := operation("openai-file-content", http.MethodGet, "/v1/files/{file_id}/content", "Get the text of a file",
		"The extracted text, as ragctx does not keep the original.")
	content.Responses = map[string]*huma.Response{"200": {
		Description: "The text.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	return []compat.Route{
		writing(upload, s.upload),
		compat.Handle(operation("openai-files", http.MethodGet, "/v1/files", "List files", "By time of creation."), s.listFiles),
		compat.Handle(operation("openai-file", http.MethodGet, "/v1/files/{file_id}", "Get a file", "Without its text."), s.getFile),
		compat.Handle(content, s.fileContent),
		writing(operation("openai-delete-file", http.MethodDelete, "/v1/files/{file_id}", "Delete a file",
			"Removes the file, also from all vector stores of the namespace."), s.deleteFile),
	}
}

func (s *service) upload(ctx context.Context, in *uploadInput) (*fileOutput, error) {
	f, err := readForm(in.body, in.mediaType)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(purposes, f.purpose) {
		return nil, ragctx.Invalid("purpose", "is %q; use one of %s", ragctx.Clip(f.purpose), strings.Join(purposes, ", "))
	}
	id := s.newID("file-")
	d := ragctx.Document{
		ExternalID: filesPrefix + id, Title: f.name, Source: "openai:" + id + "/" + f.name, MIME: f.mime(),
		Metadata: map[string]any{recordKey: map[string]any{
			"filename": f.name, "purpose": f.purpose, "bytes": len(f.data),
		}},
	}
	if _, err := s.engine.Documents().PutFile(ctx, in.Namespace, d, f.data, ""); err != nil {
		if field, ok := errors.AsType[*ragctx.FieldError](err); ok && field.Field == "body" {
			return nil, &ragctx.FieldError{Field: "file", Problem: field.Problem, Kind: field.Kind}
		}
		return nil, err
	}
	stored, _, err := s.get(ctx, in.Namespace, filesPrefix, id)
	return &fileOutput{fileOf(stored)}, err
}

// form is an uploaded file.
type form struct {
	name, mediaType, purpose string
	data                     []byte
}

// mime returns the type of the file: the one that its name says, as clients mostly send a general one.
func (f form) mime() string {
	if declared, _, err := mime.ParseMediaType(f.mediaType); err == nil && declared != "application/octet-stream" {
		return declared
	}
	if byName, _, err := mime.ParseMediaType(mime.TypeByExtension(path.Ext(f.name))); err == nil {
		return byName
	}
	return "text/plain"
}

// readForm reads a form with a file and its purpose.
func readForm(body io.Reader, mediaType string) (f form, err error) {
	media, params, _ := mime.ParseMediaType(mediaType)
	if media != "multipart/form-data" || params["boundary"] == "" {
		return f, ragctx.Invalid("body", "has the type %q; send multipart/form-data with file and purpose", ragctx.Clip(mediaType))
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return f, err
	}
	parts := multipart.NewReader(bytes.NewReader(raw), params["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(part)
		}
		if err != nil {
			return f, ragctx.Invalid("body", "cannot be read as a form: %v", err)
		}
		switch part.FormName() {
		case "file":
			f.name, f.mediaType, f.data = part.FileName(), part.Header.Get("Content-Type"), data
		case "purpose":
			f.purpose = string(data)
		default:
			return f, ragctx.Invalid(ragctx.Clip(part.FormName()), "is not supported; send file and purpose")
		}
	}
	if f.name == "" || len(f.data) == 0 {
		return f, ragctx.Invalid("file", "is missing or empty; send a file with a name")
	}
	return f, nil
}

func (s *service) listFiles(ctx context.Context, in *fileListInput) (*filesOutput, error) {
	docs, err := s.all(ctx, in.Namespace, filesPrefix)
	if err != nil {
		return nil, err
	}
	all := []file{}
	for _, d := range docs {
		if f := fileOf(d); in.Purpose == "" || f.Purpose == in.Purpose {
			all = append(all, f)
		}
	}
	out, err := page(all, in.Window, func(f file) string { return f.ID })
	return &filesOutput{out}, err
}

func (s *service) getFile(ctx context.Context, in *fileInput) (*fileOutput, error) {
	d, err := s.find(ctx, in.Namespace, filesPrefix, in.FileID)
	return &fileOutput{fileOf(d)}, err
}

func (s *service) fileContent(ctx context.Context, in *fileInput) (*textOutput, error) {
	_, content, err := s.get(ctx, in.Namespace, filesPrefix, in.FileID)
	return &textOutput{"text/plain; charset=utf-8", []byte(content)}, err
}

func (s *service) deleteFile(ctx context.Context, in *fileInput) (*deletedOutput, error) {
	d, err := s.find(ctx, in.Namespace, filesPrefix, in.FileID)
	if err != nil {
		return nil, err
	}
	err = s.each(ctx, in.Namespace, entriesPrefix, func(entries []store.Document) error {
		for _, e := range entries {
			if lastPart(e) != in.FileID {
				continue
			}
			if err := s.remove(ctx, in.Namespace, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The file is last, so that a failed request can be repeated.
	return &deletedOutput{deleted{in.FileID, "file", true}}, s.remove(ctx, in.Namespace, d)
}

// remove deletes a document. One that is deleted concurrently is no error.
func (s *service) remove(ctx context.Context, namespace string, d store.Document) error {
	if err := s.engine.Documents().Delete(ctx, namespace, d.ID); err != nil && !isNotFound(err) {
		return err
	}
	return nil
}

func isNotFound(err error) bool { return errors.Is(err, ragctx.ErrNotFound) }

// with returns attributes and a record that names them. A document may have further metadata, from its text.
func with(attributes, r map[string]any) map[string]any {
	out, named := make(map[string]any), make(map[string]any)
	maps.Copy(out, attributes)
	maps.Copy(named, r)
	named[attributesKey] = append([]string{}, slices.Sorted(maps.Keys(attributes))...)
	out[recordKey] = named
	return out
}
