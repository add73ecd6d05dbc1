package remote

import (
	"testing"

	"github.com/ragctx/ragctx"
)

// FuzzRead: whatever a provider says, there is an error, or a result within the limits.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"items":[{"id":"a","content":"c","relevance":0.5,"context_type":"Memory","depth":"L0","occurred":"2026-01-01T00:00:00Z"}]}`))
	f.Add([]byte(`{"items":[{"id":"a","content":"c","metadata":{"":1}},{"id":"","content":"c"},3,null],"note":"\u0000","truncated":true}`))
	f.Add([]byte(`{"items":[{"id":"\ud800","content":"\ud800","relevance":1e300,"source":"x"}]}`))
	f.Add([]byte(`{"items":null}`))
	o := Options{Name: "crm", Types: []ragctx.ContextType{ragctx.TypeResource, ragctx.TypeMemory}, MaxItems: 3}.withDefaults()
	q := ragctx.NewQuery("q")
	f.Fuzz(func(t *testing.T, body []byte) {
		res, err := read(q, &o, body)
		if err != nil {
			return
		}
		if len(res.Items) > o.MaxItems || len([]rune(res.Note)) > maxNote+200 {
			t.Errorf("%d items, a note of %d bytes", len(res.Items), len(res.Note))
		}
		for _, it := range res.Items {
			if it.ID == "" || it.Content == "" || it.Source == "" || len(it.Content) > maxContentBytes ||
				it.Required || it.TokenCount != 0 ||
				!(it.Relevance >= 0 && it.Relevance <= 1) || ragctx.ValidText("content", it.Content) != nil ||
				ragctx.ValidName("id", it.ID) != nil ||
				ragctx.ValidMetadata("metadata", it.Metadata, maxMetadataBytes) != nil {
				t.Errorf("item %+v", it)
			}
		}
	})
}
