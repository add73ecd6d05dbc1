package engine_test

import (
	"testing"

	"github.com/ragctx/ragctx"
)

// TestPronounsOfAQuestion checks that a pronoun of the question does not find a memory that uses it for somebody else.
func TestPronounsOfAQuestion(t *testing.T) {
	f := open(t)
	for id, text := range map[string]string{
		"boss": "My boss is called Martine and she's quite strict.", "sport": "I exercise every Tuesday at the pool.",
		"food": "I love Thai food.", "car": "Our car needs new tyres before winter.",
	} {
		if _, _, err := f.Memories().Put(t.Context(), ragctx.Memory{ID: id, UserID: "dora", Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := f.Context(t.Context(), ragctx.ContextQuery{Query: "When does she exercise?", UserID: "dora"})
	if err != nil || len(a.Items) != 1 || a.Items[0].ID != "sport" || a.Items[0].Relevance < .5 {
		t.Errorf("%+v, %v", a.Items, err)
	}
}
