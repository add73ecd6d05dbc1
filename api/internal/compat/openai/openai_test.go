package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// fixture is a service whose limit is small, and a vector store.
type fixture struct {
	*service

	key StoreKey
}

func start(t *testing.T, most int) fixture {
	t.Helper()
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	f := fixture{service: &service{eng, most}}
	made, err := f.createStore(t.Context(), &newStoreInput{Body: newVectorStore{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	f.key.StoreID = made.Body.ID
	return f
}

// upload stores a file and returns its id.
func (f fixture) upload(t *testing.T, text string) string {
	t.Helper()
	id := f.newID("file-")
	_, err := f.put(t.Context(), "", ragctx.Document{
		ExternalID: filesPrefix + id, Title: id, Source: "openai:" + id + "/a.txt", MIME: "text/plain", Text: text,
		Metadata: with(nil, map[string]any{"filename": "a.txt"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestRepeatedFiles adds a file that a batch names many times once, as named last.
func TestRepeatedFiles(t *testing.T) {
	f := start(t, maxListed)
	id, other := f.upload(t, "Refunds are possible for 30 days."), f.upload(t, "Shipping is free.")
	in := &newBatchInput{StoreKey: f.key}
	for range maxBatch - 2 {
		in.Body.Files = append(in.Body.Files, newStoreFile{FileID: id, Attributes: attributes{"at": "first"}})
	}
	in.Body.Files = append(in.Body.Files, newStoreFile{FileID: other}, newStoreFile{FileID: id, Attributes: attributes{"at": "last"}})
	made, err := f.createBatch(t.Context(), in)
	if err != nil || made.Body.FileCounts.Total != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	d, err := f.find(t.Context(), "", entriesPrefix, f.key.StoreID, id)
	if err != nil || d.Version != 1 || d.Metadata["at"] != "last" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := f.find(t.Context(), "", entriesPrefix, f.key.StoreID, id[:len(id)-1]); !isNotFound(err) {
		t.Errorf("the beginning of an id: %v", err)
	}
	in.Body.Files = []newStoreFile{{FileID: other}, {FileID: "file-none"}}
	if _, err := f.createBatch(t.Context(), in); err == nil || !strings.Contains(err.Error(), "files[1]") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// TestFullStore refuses what a full vector store has no room for, and serves the store.
func TestFullStore(t *testing.T) {
	f := start(t, 2)
	texts := []string{"Refunds are possible for 30 days.", "Shipping is free above 50 euros.", "Support answers on weekdays."}
	var ids []string
	for _, text := range texts {
		ids = append(ids, f.upload(t, text))
	}
	add := func(ids ...string) error {
		_, err := f.createBatch(t.Context(), &newBatchInput{StoreKey: f.key, Body: newBatch{FileIDs: ids}})
		return err
	}
	full := func(err error) bool {
		return errors.Is(err, ragctx.ErrTooLarge) && strings.Contains(err.Error(), "the limit is 2: remove files")
	}
	if err := add(ids...); !full(err) {
		t.Errorf("three files: %v", err)
	}
	if err := add(ids[0], ids[1]); err != nil {
		t.Fatal(err)
	}
	if err := add(ids[0]); err != nil {
		t.Errorf("a file that is there: %v", err)
	}
	one := &newStoreFileInput{StoreKey: f.key, Body: newStoreFile{FileID: ids[2]}}
	if _, err := f.addFile(t.Context(), one); !full(err) {
		t.Errorf("another file: %v", err)
	}
	if l, err := f.listEntries(t.Context(), &storeFileListInput{StoreKey: f.key}); err != nil || len(l.Body.Data) != 2 {
		t.Errorf("list: %+v, %v", l, err)
	}
	f.most = 1 // a store of more than the limit, of earlier times
	if _, err := f.listEntries(t.Context(), &storeFileListInput{StoreKey: f.key}); !errors.Is(err, ragctx.ErrTooLarge) {
		t.Errorf("list of more than the limit: %v", err)
	}
	if v, err := f.getStore(t.Context(), &f.key); err != nil || v.Body.FileCounts.Total != 2 || v.Body.UsageBytes == 0 {
		t.Errorf("store: %+v, %v", v, err)
	}
	found, err := f.search(t.Context(), &searchInput{StoreKey: f.key, Body: searchRequest{Query: question{"refunds"}}})
	if err != nil || len(found.Body.Data) == 0 || found.Body.Data[0].FileID != ids[0] || found.Body.Data[0].Filename != "a.txt" {
		t.Errorf("search: %+v, %v", found, err)
	}
	if _, err := f.deleteFile(t.Context(), &fileInput{FileID: ids[0]}); err != nil {
		t.Error(err)
	}
	if _, err := f.find(t.Context(), "", entriesPrefix, f.key.StoreID, ids[0]); !isNotFound(err) {
		t.Errorf("a deleted file is in the vector store: %v", err)
	}
	if _, err := f.deleteStore(t.Context(), &f.key); err != nil {
		t.Error(err)
	}
	if err := f.each(t.Context(), "", entriesPrefix, func(docs []store.Document) error {
		if len(docs) > 0 {
			t.Errorf("%d files are left", len(docs))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestScores: a passage in other words has a score to which thresholds for cosines apply.
func TestScores(t *testing.T) {
	f := start(t, maxListed)
	id := f.upload(t, "Customers may return goods and get their money back within thirty days.")
	if _, err := f.addFile(t.Context(), &newStoreFileInput{StoreKey: f.key, Body: newStoreFile{FileID: id}}); err != nil {
		t.Fatal(err)
	}
	ask := func(threshold float64) []result {
		in := &searchInput{StoreKey: f.key, Body: searchRequest{Query: question{"How do customers return goods?"}}}
		in.Body.RankingOptions = &ranking{ScoreThreshold: threshold}
		found, err := f.search(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return found.Body.Data
	}
	all := ask(0)
	q := ragctx.NewQuery("How do customers return goods?").WithTypes(ragctx.TypeResource)
	q.Filter.Tags, q.Explain, q.MinRelevance = []string{f.key.StoreID}, true, new(float64)
	res, err := f.engine.Search(t.Context(), q)
	if err != nil || len(res.Items) != 1 || len(all) != 1 {
		t.Fatalf("%+v, %+v, %v", all, res, err)
	}
	if it := res.Items[0]; all[0].Score <= it.Relevance || all[0].Score <= it.Signals["vector"] || all[0].Score > 1 {
		t.Errorf("the score is %v, of the relevance %v and the cosine %v", all[0].Score, it.Relevance, it.Signals["vector"])
	}
	if below, above := ask(all[0].Score-0.01), ask(min(1, all[0].Score+0.01)); len(below) != 1 || len(above) != 0 {
		t.Errorf("thresholds around %v: %d and %d", all[0].Score, len(below), len(above))
	}
}

// TestAttributesAreNamed checks that equal attributes make equal records, and that a file without attributes has none, whatever
// its front matter says.
func TestAttributesAreNamed(t *testing.T) {
	r := with(map[string]any{"c": 1, "a": 2, "b": 3}, nil)[recordKey].(map[string]any)
	if got := fmt.Sprint(r[attributesKey]); got != "[a b c]" {
		t.Error(got)
	}
	b, err := json.Marshal(with(nil, nil))
	if err != nil || string(b) != `{"openai":{"attributes":[]}}` {
		t.Errorf("%s, %v", b, err)
	}
}
