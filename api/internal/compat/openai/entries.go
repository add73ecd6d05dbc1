package openai

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/internal/store"
)

// storeFile is a file in a vector store.
type storeFile struct {
	ID               string         `json:"id" doc:"id of the file"`
	Object           string         `json:"object" doc:"always vector_store.file"`
	UsageBytes       int64          `json:"usage_bytes" doc:"size of the text"`
	CreatedAt        int64          `json:"created_at" doc:"time of upload, in seconds since 1970"`
	VectorStoreID    string         `json:"vector_store_id" doc:"id of the vector store"`
	Status           string         `json:"status" doc:"always completed: a file is indexed before the request is answered"`
	LastError        *struct{}      `json:"last_error" doc:"always null"`
	ChunkingStrategy chunkingShown  `json:"chunking_strategy" doc:"how the file was cut"`
	Attributes       map[string]any `json:"attributes" doc:"custom values"`
}

// chunkingShown says how a file was cut.
type chunkingShown struct {
	Type   string       `json:"type" enum:"static,other" doc:"other: the chunk sizes of ragctx"`
	Static *staticShown `json:"static,omitempty" doc:"for static"`
}

type staticShown struct {
	MaxChunkSizeTokens int64 `json:"max_chunk_size_tokens" doc:"maximum size"`
	ChunkOverlapTokens int64 `json:"chunk_overlap_tokens" doc:"always 0"`
}

// newStoreFile adds a file to a vector store.
type newStoreFile struct {
	FileID           string     `json:"file_id" minLength:"1" maxLength:"128" doc:"id of the file"`
	Attributes       attributes `json:"attributes,omitempty" doc:"custom values: at most 16 texts, numbers, true or false"`
	ChunkingStrategy *chunking  `json:"chunking_strategy,omitempty" doc:"how to cut the file"`
}

// fileChange changes a file in a vector store.
type fileChange struct {
	Attributes attributes `json:"attributes" doc:"new values, instead of all present ones"`
}

type newStoreFileInput struct {
	StoreKey
	Body newStoreFile
}

// FileKey names a file in a vector store. It is exported because huma ignores unexported embedded types.
type FileKey struct {
	StoreKey
	FileID string `path:"file_id" maxLength:"512" doc:"id of the file"`
}

type fileChangeInput struct {
	FileKey
	Body fileChange
}

type storeFileListInput struct {
	StoreKey
	Window
	Filter string `query:"filter" enum:"in_progress,completed,failed,cancelled" doc:"only files of this state"`
}

type storeFileOutput struct{ Body storeFile }

type storeFilesOutput struct{ Body list[storeFile] }

// contentPage is the text of a file.
type contentPage struct {
	Object   string    `json:"object" doc:"always vector_store.file_content.page"`
	Data     []content `json:"data" nullable:"false" doc:"the text, in one part"`
	HasMore  bool      `json:"has_more" doc:"always false"`
	NextPage *string   `json:"next_page" doc:"always null"`
}

// content is a text.
type content struct {
	Type string `json:"type" doc:"always text"`
	Text string `json:"text" doc:"the text"`
}

type contentOutput struct{ Body contentPage }

func (s *service) entryRoutes() []compat.Route {
	const files, one = storesPath + "/{vector_store_id}/files", storesPath + "/{vector_store_id}/files/{file_id}"
	return []compat.Route{
		writing(operation("openai-add-file", http.MethodPost, files, "Add a file to a vector store",
			"It can be found when the request is answered."), s.addFile),
		compat.Handle(operation("openai-store-files", http.MethodGet, files, "List the files of a vector store",
			"By time of upload."), s.listEntries),
		compat.Handle(operation("openai-store-file", http.MethodGet, one, "Get a file of a vector store", "Without its text."), s.getEntry),
		writing(operation("openai-change-file", http.MethodPost, one, "Change the attributes of a file",
			"Replaces all attributes."), s.changeEntry),
		compat.Handle(operation("openai-store-file-content", http.MethodGet, one+"/content", "Get the text of a file",
			"The extracted text."), s.entryContent),
		writing(operation("openai-remove-file", http.MethodDelete, one, "Remove a file from a vector store",
			"The uploaded file stays."), s.removeEntry),
	}
}

// attachAll adds files to a vector store. A file that is named several times is added once, as named last.
func (s *service) attachAll(ctx context.Context, namespace, storeID string, files []newStoreFile) error {
	last := make(map[string]int, len(files))
	for i, f := range files {
		last[f.FileID] = i
	}
	for i, f := range files {
		if last[f.FileID] != i {
			continue
		}
		if _, err := s.attach(ctx, namespace, storeID, f); err != nil {
			return err
		}
	}
	return nil
}

// checkRoom refuses files that a vector store has no room for.
func (s *service) checkRoom(ctx context.Context, namespace, storeID, field string, ids ...string) error {
	total := make(map[string]bool, len(ids))
	for _, id := range ids {
		total[id] = true
	}
	added := len(total)
	err := s.each(ctx, namespace, entriesPrefix+storeID+"/", func(docs []store.Document) error {
		for _, d := range docs {
			total[lastPart(d)] = true
		}
		return nil
	})
	if err == nil && len(total) > s.most {
		return ragctx.TooLarge(field, "has %d files, with which the vector store would have %d; the limit is %d: remove files, "+
			"or use another vector store", added, len(total), s.most)
	}
	return err
}

// attach adds a file to a vector store.
func (s *service) attach(ctx context.Context, namespace, storeID string, f newStoreFile) (store.Document, error) {
	d, content, err := s.get(ctx, namespace, filesPrefix, f.FileID)
	if err != nil {
		return store.Document{}, err
	}
	cut := map[string]any{"filename": text(record(d), "filename")}
	if c := f.ChunkingStrategy; c != nil && c.Static != nil {
		cut["max_chunk_size_tokens"] = c.Static.MaxChunkSizeTokens
	}
	return s.put(ctx, namespace, ragctx.Document{
		ExternalID: under(entriesPrefix, storeID, f.FileID), Title: d.Title, Source: source(storeID, f.FileID), MIME: d.MIME,
		Text: content, Tags: []string{storeID}, Metadata: with(f.Attributes, cut), Chunk: f.ChunkingStrategy.sizes(),
	})
}

// source is the source of a file in a vector store, by which a search is limited to it.
func source(storeID, id string) string { return "openai:" + storeID + "/" + id }

func entryOf(storeID string, d store.Document) storeFile {
	id := lastPart(d)
	out := storeFile{
		ID: id, Object: "vector_store.file", UsageBytes: int64(d.Bytes), CreatedAt: created(id), VectorStoreID: storeID,
		Status: "completed", ChunkingStrategy: chunkingShown{Type: "other"}, Attributes: attributesOf(d),
	}
	if n := number(record(d), "max_chunk_size_tokens"); n > 0 {
		out.ChunkingStrategy = chunkingShown{"static", &staticShown{MaxChunkSizeTokens: n}}
	}
	return out
}

func (s *service) addFile(ctx context.Context, in *newStoreFileInput) (*storeFileOutput, error) {
	if err := in.Body.Attributes.validate("attributes", false); err != nil {
		return nil, err
	}
	if _, _, err := s.get(ctx, in.Namespace, storesPrefix, in.StoreID); err != nil {
		return nil, err
	}
	if err := s.checkRoom(ctx, in.Namespace, in.StoreID, "file_id", in.Body.FileID); err != nil {
		return nil, err
	}
	d, err := s.attach(ctx, in.Namespace, in.StoreID, in.Body)
	return &storeFileOutput{entryOf(in.StoreID, d)}, err
}

func (s *service) listEntries(ctx context.Context, in *storeFileListInput) (*storeFilesOutput, error) {
	if _, _, err := s.get(ctx, in.Namespace, storesPrefix, in.StoreID); err != nil {
		return nil, err
	}
	docs, err := s.all(ctx, in.Namespace, entriesPrefix+in.StoreID+"/")
	if err != nil {
		return nil, err
	}
	out, err := entries(in.StoreID, docs, in.Filter, in.Window)
	return &storeFilesOutput{out}, err
}

// entries returns a page of files of a state.
func entries(storeID string, docs []store.Document, state string, w Window) (list[storeFile], error) {
	all := make([]storeFile, 0, len(docs))
	for _, d := range docs {
		if state == "" || state == "completed" {
			all = append(all, entryOf(storeID, d))
		}
	}
	return page(all, w, func(f storeFile) string { return f.ID })
}

func (s *service) getEntry(ctx context.Context, in *FileKey) (*storeFileOutput, error) {
	d, _, err := s.get(ctx, in.Namespace, entriesPrefix, in.StoreID, in.FileID)
	return &storeFileOutput{entryOf(in.StoreID, d)}, err
}

func (s *service) changeEntry(ctx context.Context, in *fileChangeInput) (*storeFileOutput, error) {
	if err := in.Body.Attributes.validate("attributes", false); err != nil {
		return nil, err
	}
	d, text, err := s.get(ctx, in.Namespace, entriesPrefix, in.StoreID, in.FileID)
	if err != nil {
		return nil, err
	}
	r := record(d)
	c := ragctx.ChunkSizes{MaxChars: 4 * int(number(r, "max_chunk_size_tokens"))}
	c.TargetChars = c.MaxChars
	d, err = s.put(ctx, in.Namespace, ragctx.Document{
		ExternalID: d.ID, Title: d.Title, Source: d.Source, MIME: d.MIME, Text: text, Tags: d.Tags,
		Metadata: with(in.Body.Attributes, r), Chunk: c,
	})
	return &storeFileOutput{entryOf(in.StoreID, d)}, err
}

func (s *service) entryContent(ctx context.Context, in *FileKey) (*contentOutput, error) {
	_, text, err := s.get(ctx, in.Namespace, entriesPrefix, in.StoreID, in.FileID)
	return &contentOutput{contentPage{Object: "vector_store.file_content.page", Data: []content{{"text", text}}}}, err
}

func (s *service) removeEntry(ctx context.Context, in *FileKey) (*deletedOutput, error) {
	d, _, err := s.get(ctx, in.Namespace, entriesPrefix, in.StoreID, in.FileID)
	if err == nil {
		err = s.remove(ctx, in.Namespace, d)
	}
	return &deletedOutput{deleted{in.FileID, "vector_store.file.deleted", true}}, err
}

// newBatch adds files to a vector store.
type newBatch struct {
	FileIDs          []string       `json:"file_ids,omitempty" maxItems:"2000" doc:"ids of the files"`
	Files            []newStoreFile `json:"files,omitempty" maxItems:"2000" doc:"the files, each with its attributes; instead of file_ids"`
	Attributes       attributes     `json:"attributes,omitempty" doc:"custom values, for file_ids"`
	ChunkingStrategy *chunking      `json:"chunking_strategy,omitempty" doc:"how to cut the files, for file_ids"`
}

// batch are files that were added together.
type batch struct {
	ID            string     `json:"id" doc:"id of the batch"`
	Object        string     `json:"object" doc:"always vector_store.files_batch"`
	CreatedAt     int64      `json:"created_at" doc:"time of creation, in seconds since 1970"`
	VectorStoreID string     `json:"vector_store_id" doc:"id of the vector store"`
	Status        string     `json:"status" doc:"always completed: the files are indexed before the request is answered"`
	FileCounts    fileCounts `json:"file_counts" doc:"number of files"`
}

type newBatchInput struct {
	StoreKey
	Body newBatch
}

// BatchKey names a batch. It is exported because huma ignores unexported embedded types.
type BatchKey struct {
	StoreKey
	BatchID string `path:"batch_id" maxLength:"512" doc:"id of the batch"`
}

type batchListInput struct {
	BatchKey
	Window
	Filter string `query:"filter" enum:"in_progress,completed,failed,cancelled" doc:"only files of this state"`
}

type batchOutput struct{ Body batch }

func (s *service) batchRoutes() []compat.Route {
	const all, one = storesPath + "/{vector_store_id}/file_batches", storesPath + "/{vector_store_id}/file_batches/{batch_id}"
	return []compat.Route{
		writing(operation("openai-create-batch", http.MethodPost, all, "Add files to a vector store",
			"They can be found when the request is answered."), s.createBatch),
		compat.Handle(operation("openai-batch", http.MethodGet, one, "Get a file batch", "With the number of its files."), s.getBatch),
		compat.Handle(operation("openai-cancel-batch", http.MethodPost, one+"/cancel", "Cancel a file batch",
			"Has no effect: a batch is complete when its request is answered."), s.getBatch),
		compat.Handle(operation("openai-batch-files", http.MethodGet, one+"/files", "List the files of a batch",
			"By time of upload."), s.batchFiles),
	}
}

func (s *service) createBatch(ctx context.Context, in *newBatchInput) (*batchOutput, error) {
	r := in.Body
	if (len(r.FileIDs) == 0) == (len(r.Files) == 0) {
		return nil, ragctx.Invalid("file_ids", "and files: send one of them, with 1 to %d files", maxBatch)
	}
	field := "files"
	for _, id := range r.FileIDs {
		field = "file_ids"
		r.Files = append(r.Files, newStoreFile{id, r.Attributes, r.ChunkingStrategy})
	}
	ids := make([]string, len(r.Files))
	for i, f := range r.Files {
		if err := f.Attributes.validate(fmt.Sprintf("%s[%d].attributes", field, i), false); err != nil {
			return nil, err
		}
		ids[i] = f.FileID
	}
	if _, _, err := s.get(ctx, in.Namespace, storesPrefix, in.StoreID); err != nil {
		return nil, err
	}
	if err := s.checkFiles(ctx, in.Namespace, field, ids); err != nil {
		return nil, err
	}
	if err := s.checkRoom(ctx, in.Namespace, in.StoreID, field, ids...); err != nil {
		return nil, err
	}
	if err := s.attachAll(ctx, in.Namespace, in.StoreID, r.Files); err != nil {
		return nil, err
	}
	id := s.newID("vsfb_")
	d, err := s.put(ctx, in.Namespace, ragctx.Document{
		ExternalID: under(batchesPrefix, in.StoreID, id), Title: id, Source: "openai:" + id, Text: id, MIME: "text/plain",
		Metadata: with(nil, map[string]any{"files": slices.Compact(slices.Sorted(slices.Values(ids)))}),
	})
	return &batchOutput{batchOf(in.StoreID, d)}, err
}

// filesIn returns the ids of the files of a batch.
func filesIn(d store.Document) map[string]bool {
	out := make(map[string]bool)
	list, _ := record(d)["files"].([]any)
	for _, id := range list {
		out[fmt.Sprint(id)] = true
	}
	return out
}

func batchOf(storeID string, d store.Document) batch {
	n := len(filesIn(d))
	return batch{
		ID: lastPart(d), Object: "vector_store.files_batch", CreatedAt: created(lastPart(d)), VectorStoreID: storeID,
		Status: "completed", FileCounts: fileCounts{Completed: n, Total: n},
	}
}

func (s *service) getBatch(ctx context.Context, in *BatchKey) (*batchOutput, error) {
	d, _, err := s.get(ctx, in.Namespace, batchesPrefix, in.StoreID, in.BatchID)
	return &batchOutput{batchOf(in.StoreID, d)}, err
}

func (s *service) batchFiles(ctx context.Context, in *batchListInput) (*storeFilesOutput, error) {
	d, _, err := s.get(ctx, in.Namespace, batchesPrefix, in.StoreID, in.BatchID)
	if err != nil {
		return nil, err
	}
	docs, err := s.all(ctx, in.Namespace, entriesPrefix+in.StoreID+"/")
	if err != nil {
		return nil, err
	}
	ids := filesIn(d)
	var of []store.Document
	for _, e := range docs {
		if ids[lastPart(e)] {
			of = append(of, e)
		}
	}
	out, err := entries(in.StoreID, of, in.Filter, in.Window)
	return &storeFilesOutput{out}, err
}
