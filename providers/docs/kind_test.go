package docs

import (
	"testing"

	"github.com/ragctx/ragctx"
)

// TestPreference checks that a question in words prefers prose, one with an identifier code, and a few words or names of
// products prefer neither. Only items of nearly the same relevance change places.
func TestPreference(t *testing.T) {
	for question, want := range map[string]string{
		"how do I mark a flag as required": "guide.md", "wie wird ein Flag zur Pflicht": "guide.md",
		"how does GitHub mark required checks": "guide.md", "which macOS versions are supported": "guide.md",
		"MarkFlagRequired": "flags.go", "where is mark_flag_required called": "flags.go", "what does Command::mark do": "flags.go",
		"markFlag() returns what": "flags.go", "required": "flags.go", "flag groups": "flags.go",
	} {
		items := []ragctx.ContextItem{
			{ID: "src/flags.go@1#2", Relevance: .76}, {ID: "docs/guide.md@1#4", Relevance: .75}, {ID: "docs/other.md@1#0", Relevance: .5},
		}
		preferred(ragctx.ContextQuery{Query: question}).sort(items)
		if got := items[0].ID; got != map[string]string{"guide.md": "docs/guide.md@1#4", "flags.go": "src/flags.go@1#2"}[want] {
			t.Errorf("%q: %s is first", question, got)
		}
		if items[2].ID != "docs/other.md@1#0" {
			t.Errorf("%q: %+v", question, items)
		}
	}
	items := []ragctx.ContextItem{{ID: "docs/guide.md@1#4", Relevance: .76}, {ID: "src/flags.go@1#2", Relevance: .75}}
	if preferred(ragctx.ContextQuery{Query: "where is mark_flag_required"}).sort(items); items[0].ID != "src/flags.go@1#2" {
		t.Errorf("with an identifier: %+v", items)
	}
	items = []ragctx.ContextItem{{ID: "src/flags.go@1#2", Relevance: .76}}
	if preferred(ragctx.ContextQuery{Query: "how do I mark a flag as required"}).sort(items); items[0].Relevance != .76 {
		t.Errorf("without prose: %+v", items)
	}
}
