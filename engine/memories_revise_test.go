package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// TestChangesAtATime: of changes that are made at a time, none is lost.
func TestChangesAtATime(t *testing.T) {
	f := open(t)
	if _, _, err := f.Memories().Put(t.Context(), ragctx.Memory{ID: "m", Content: "x", Tags: []string{}}); err != nil {
		t.Fatal(err)
	}
	const n = 4
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, _, err := f.Memories().Revise(t.Context(), "", "m", engine.Viewer{Anyone: true}, memory.Patch{AddTags: []string{fmt.Sprint(i)}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	m, err := f.Memories().Get(t.Context(), "", "m", "", true)
	if err != nil || len(m.Tags) != n || m.Version != 1+n {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestChangedMemoriesAreFound by their new content.
func TestChangedMemoriesAreFound(t *testing.T) {
	f := open(t)
	if _, _, err := f.Memories().Put(t.Context(), ragctx.Memory{ID: "m", Content: "Zebras have stripes."}); err != nil {
		t.Fatal(err)
	}
	content := "Giraffes have spots."
	by := engine.Viewer{Anyone: true}
	if _, st, err := f.Memories().Revise(t.Context(), "", "m", by, memory.Patch{Content: &content}); err != nil || st != store.Replaced {
		t.Fatal(st, err)
	}
	finds := func(text string) bool {
		t.Helper()
		got, err := f.Search(t.Context(), query(text).WithTypes(ragctx.TypeMemory))
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Items) > 0 && strings.Contains(strings.ToLower(got.Items[0].Content), text)
	}
	if !finds("giraffes") || finds("zebras") {
		t.Error("the old content is found, or the new is not")
	}
	if _, err := f.Memories().Undo(t.Context(), "", "m", by); err != nil {
		t.Fatal(err)
	}
	if finds("giraffes") || !finds("zebras") {
		t.Error("what is undone is found, or what was before is not")
	}
}

// TestNoSecretsComeIn by outcomes and imports.
func TestNoSecretsComeIn(t *testing.T) {
	const secret = "sk-ant-api03-Zx81kQpLmN4tVb7YwR2sDf6GhJ9aEc0UoI5xTqW3vBnM"
	f := open(t)
	m, _, err := f.Memories().PutOutcome(t.Context(), ragctx.Memory{UserID: "ada"}, memory.Outcome{Prompt: "Use the key " + secret, Error: "refused: api_key=" + secret})
	if err != nil || m.UserID != "ada" || !strings.HasPrefix(m.Content, "Failure: Use the key ") {
		t.Fatalf("%+v, %v", m, err)
	}
	tools := []string{"curl -H 'x-api-key: " + secret + "'"}
	success, _, err := f.Memories().PutOutcome(t.Context(), ragctx.Memory{UserID: "ada"}, memory.Outcome{Prompt: "Look", Tools: tools, Result: "saw " + secret})
	if err != nil || !strings.Contains(tools[0], secret) {
		t.Fatalf("%v, %v", tools, err)
	}
	imported, _, err := f.Memories().Import(t.Context(), ragctx.Memory{
		ID: "fact", Content: "The key is " + secret, Type: ragctx.MemorySemantic,
		About: &ragctx.FactRecord{Kind: ragctx.FactIdentity, Subject: "user", Attribute: "key", Value: secret, Reason: "says " + secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{m.ID, success.ID, imported.ID} {
		stored, err := f.Memories().Get(t.Context(), "", id, "ada", false)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%+v %+v", stored, stored.About); strings.Contains(text, secret) {
			t.Errorf("stored %s", text)
		}
	}
}
