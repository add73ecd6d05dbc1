package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// names returns the documents and memories of hits, sorted.
func names(items []ragctx.ContextItem) (out []string) {
	for _, it := range items {
		id, _, _ := strings.Cut(it.ID, "@")
		out = append(out, id)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestPhrasesAreAMust(t *testing.T) {
	f := open(t)
	f.put("phrase", "# Weather\n\nBefore the STORM season: the harbour master checks the ropes.")
	f.put("words", "A season of storms is a storm in every season; the harbour master checks the ropes.")
	f.put("other", "A storm at the end of the season. The harbour is closed.")
	f.put("titled", "# Storm season\n\nBoats stay ashore.\n")
	f.turn(ragctx.Turn{ID: "t1", SessionID: "s1", Prompt: "When does the storm season begin?", Response: "In November."})
	f.turn(ragctx.Turn{ID: "t2", SessionID: "s1", Prompt: "Is a storm this season likely?", Response: "Yes."})

	for _, tt := range []struct {
		query    string
		want     []string
		unquoted []string
	}{
		{`"storm season"`, []string{"phrase", "t1", "titled"}, nil},
		{`who checks the ropes before the “Storm Season”?`, []string{"phrase", "t1", "titled"}, nil},
		{`"storm season" "harbour master"`, []string{"phrase"}, nil},
		{`"storm seasons"`, []string{"other", "phrase", "t1", "t2", "titled", "words"}, []string{"storm seasons"}},
		{`"storm season" "lighthouse"`, []string{"other", "phrase", "t1", "t2", "titled", "words"}, []string{"storm season", "lighthouse"}},
		{`storm season`, []string{"other", "phrase", "t1", "t2", "titled", "words"}, nil},
	} {
		q := ragctx.ContextQuery{Query: tt.query}.WithParam("phrases", true)
		for mode, ranking := range map[string]string{"both legs": "", "keyword": "keyword", "vector": "vector"} {
			var keys []string
			for _, kind := range []store.Kind{store.KindDocuments, store.KindMemories} {
				o := engine.HitsOptions{Kind: kind, K: 50}
				o.Ranking.Method = ranking
				hits, _, err := f.Indexes().Hits(t.Context(), q, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range hits {
					keys = append(keys, h.Key)
				}
			}
			slices.Sort(keys)
			keys = slices.Compact(keys)
			if mode != "vector" && !slices.Equal(keys, tt.want) {
				t.Errorf("%s, %s: hits %v, want %v", tt.query, mode, keys, tt.want)
			}
			for _, k := range keys {
				if !slices.Contains(tt.want, k) {
					t.Errorf("%s, %s: %s is no hit", tt.query, mode, k)
				}
			}
		}
		a := f.ask(q)
		if !slices.Equal(a.Unquoted, tt.unquoted) {
			t.Errorf("%s: unquoted %q, want %q", tt.query, a.Unquoted, tt.unquoted)
		}
		found, err := f.Search(t.Context(), ragctx.ContextQuery{Query: tt.query})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(found.Items); !slices.Equal(got, tt.want) || !slices.Equal(found.Unquoted, tt.unquoted) {
			t.Errorf("%s: found %v, unquoted %q; want %v, %q", tt.query, got, found.Unquoted, tt.want, tt.unquoted)
		}
	}

	prompt := ragctx.ContextQuery{Query: `"storm season"`}
	if a := f.ask(prompt); len(names(a.Items)) != 6 || a.Unquoted != nil {
		t.Errorf("a prompt: %v, unquoted %q", names(a.Items), a.Unquoted)
	}
	found, err := f.Search(t.Context(), prompt.WithParam("phrases", false))
	if err != nil || len(names(found.Items)) != 6 || found.Unquoted != nil {
		t.Errorf("a search for words: %v, unquoted %q, %v", names(found.Items), found.Unquoted, err)
	}
}

// A phrase is found behind any number of texts that only have its words side by side,
// and texts are checked again after a restart.
func TestPhraseBehindMany(t *testing.T) {
	f := open(t)
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "## Part %d\n\nThe bank in England, a bank for England, is a bank of all England.\n\n", i)
	}
	f.put("many", b.String())
	f.put("one", "# Elsewhere\n\nIn a long text about other things, such as ropes, boats and the weather in the harbour, the Bank of England is named once.")
	for range 2 {
		a := f.ask(ragctx.ContextQuery{Query: `rates of the "bank of England"`}.WithParam("phrases", true))
		if got := names(a.Items); !slices.Equal(got, []string{"one"}) {
			t.Errorf("found %v", got)
		}
		f.reopen()
	}
}
