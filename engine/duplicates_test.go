package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

func TestDuplicates(t *testing.T) {
	eng := open(t)
	body := strings.Repeat("The harbour master keeps a list of all ships that lie at the northern quay. ", 1) +
		"Every morning it is compared with what the pilots have reported over night, and every difference is looked into before noon, " +
		"by someone who was not on duty; what is found goes into the journal, with the time and the name of the ship."
	for id, text := range map[string]string{
		"new/a.md": body, "old/a.md": body, "old/b.md": body + " It is kept for ten years.", "short": "no", "shorter": "no", "other": "a text of its own",
	} {
		if _, err := eng.Documents().Put(t.Context(), "default", ragctx.Document{ExternalID: id, Text: text}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := eng.Documents().Delete(t.Context(), "default", "old/a.md"); err != nil {
		t.Fatal(err)
	}
	got, err := eng.Documents().Duplicates(t.Context(), "default", "")
	if err != nil || len(got) != 2 || got[1].Similarity > .99 || got[1].Similarity < docs.NearDuplicate {
		t.Fatalf("%+v, %v", got, err)
	}
	got[1].Similarity = 0
	want := []docs.Duplicates{{IDs: []string{"short", "shorter"}, Similarity: 1, Exact: true}, {IDs: []string{"new/a.md", "old/b.md"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, err = eng.Documents().Duplicates(t.Context(), "default", "old/"); err != nil || len(got) != 1 {
		t.Errorf("under old/: %+v, %v", got, err)
	}
	if got, err = eng.Documents().Duplicates(t.Context(), "nowhere", ""); err != nil || len(got) != 0 {
		t.Errorf("of no namespace: %+v, %v", got, err)
	}
}
