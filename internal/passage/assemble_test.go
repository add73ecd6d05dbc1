package passage_test

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// shelf is an in-memory source.
type shelf struct {
	texts  map[uint64]string
	items  map[uint64]*passage.Item
	chunks []passage.Chunk
}

// add adds a text, split into small chunks, and returns their ids.
func (s *shelf) add(it passage.Item, text string) (ids []uint64) {
	if s.texts == nil {
		s.texts, s.items = make(map[uint64]string), make(map[uint64]*passage.Item)
	}
	it.Bytes = len(text)
	s.texts[it.ID], s.items[it.ID] = text, &it
	for _, c := range chunk.Split(text, ragctx.ChunkSizes{TargetChars: 60, MaxChars: 120}) {
		id := uint64(len(s.chunks) + 1)
		s.chunks = append(s.chunks, passage.Chunk{ID: id, Item: it.ID, Ordinal: c.Ordinal, Text: c.Text, Start: c.Start, End: c.End})
		ids = append(ids, id)
	}
	return ids
}

func (s *shelf) Chunks(_ context.Context, ids []uint64) ([]passage.Chunk, map[uint64]*passage.Item, error) {
	var out []passage.Chunk
	for _, u := range s.chunks {
		if slices.Contains(ids, u.ID) {
			out = append(out, u)
		}
	}
	return out, s.items, nil
}

func (s *shelf) Span(_ context.Context, item uint64, from, to int) ([]passage.Chunk, error) {
	var out []passage.Chunk
	for _, u := range s.chunks {
		if u.Item == item && u.Ordinal >= from && u.Ordinal <= to {
			out = append(out, u)
		}
	}
	return out, nil
}

func (s *shelf) Text(_ context.Context, item uint64, start, end int) (string, error) {
	return s.texts[item][start:end], nil
}

func (s *shelf) Items(context.Context, []uint64) (map[uint64]*passage.Item, error) {
	return s.items, nil
}

func (s *shelf) Texts(context.Context, []uint64) (map[uint64]string, error) { return s.texts, nil }

var now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func doc(id uint64, key string) passage.Item {
	return passage.Item{
		Item:      index.Item{ID: id, Recorded: now.Add(-time.Hour), Source: "file:" + key},
		Namespace: "default", Type: ragctx.TypeResource, Key: key, Version: 2, Title: "Title of " + key,
	}
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "This is sentence number %d of the text about topic %d.\n\n", i, i)
	}
	return b.String()
}

func assemble(t *testing.T, s *shelf, q ragctx.ContextQuery, whole bool, hits ...index.Hit) []ragctx.ContextItem {
	t.Helper()
	q = q.WithDefaults()
	a, err := passage.Assemble(t.Context(), s, passage.Request{
		Query: q, Search: index.Query{Now: now, Scope: index.Scope{User: q.UserID}, AsOf: q.AsOf}, Hits: hits, Whole: whole,
	})
	if err == nil {
		err = a.Complete(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.Items
}

func hit(id uint64, score float64) index.Hit {
	return index.Hit{ID: id, Score: score, Relevance: score, Ordinal: int(id) - 1}
}

func TestTouchingHitsAreJoined(t *testing.T) {
	var s shelf
	s.add(doc(1, "a.md"), lines(20))
	items := assemble(t, &s, ragctx.NewQuery("topic"), false, hit(3, .5), hit(4, .7), hit(5, .9), hit(9, .7))
	if len(items) != 2 {
		t.Fatalf("%d items, want a joined passage and a single one", len(items))
	}
	if items[0].ID != "a.md@2#4" || items[0].Relevance != .9 {
		t.Errorf("the passage is %s at %v, want the best hit's id and score", items[0].ID, items[0].Relevance)
	}
	if !strings.Contains(items[0].Content, "number 3 ") || !strings.Contains(items[0].Content, "number 4 ") {
		t.Errorf("content %q lacks a hit", items[0].Content)
	}
	if strings.Contains(items[0].Content, "number 2 ") {
		t.Errorf("content %q has a weak hit at its end", items[0].Content)
	}
	if !strings.Contains(items[0].Forms.Wider.Text, "number 2 ") || !strings.Contains(items[0].Forms.Wider.Text, "number 5 ") {
		t.Errorf("the wider form %q lacks the neighbours", items[0].Forms.Wider.Text)
	}
	if items[0].Metadata["lines"] != "7-9" || items[0].Metadata["title"] != "Title of a.md" || items[0].Source != "file:a.md" {
		t.Errorf("metadata %v, source %s", items[0].Metadata, items[0].Source)
	}
}

// TestShorterForms: a joined passage is shortened to the best chunk and then to the best sentence
// before it is dropped.
func TestShorterForms(t *testing.T) {
	var s shelf
	s.add(doc(1, "a.md"), lines(20))
	for _, depth := range []ragctx.ContextDepth{ragctx.DepthOverview, ragctx.DepthFull} {
		items := assemble(t, &s, ragctx.NewQuery("topic 4").WithDepth(depth), false, hit(4, .8), hit(5, .9), hit(6, .7))
		var steps []string
		for _, f := range items[0].Forms.Shorter {
			steps = append(steps, string(f.Depth)+" "+f.Lines+" "+f.Text)
		}
		want := []string{"overview 9-9 This is sentence number 4 of the text about topic 4."}
		if depth == ragctx.DepthFull {
			want = append([]string{"overview 7-11 " + items[0].Forms.Shorter[0].Text}, want...)
		}
		if !slices.Equal(steps, want) {
			t.Errorf("%s steps down to %q, want %q", depth, steps, want)
		}
	}
}

func TestPassagesDoNotGrowIntoEachOther(t *testing.T) {
	var s shelf
	s.add(doc(1, "a.md"), lines(40))
	items := assemble(t, &s, ragctx.NewQuery("topic"), false, hit(10, .9), hit(13, .8), hit(15, .7), hit(30, .6))
	seen := make(map[string]string)
	for _, it := range items {
		text := cmp.Or(it.Forms.Wider.Text, it.Content)
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if other, twice := seen[line]; twice {
				t.Errorf("%q is in %s and in %s", line, other, it.ID)
			}
			seen[line] = it.ID
		}
	}
	if len(items) != 4 || len(seen) < 12 {
		t.Errorf("%d items with %d lines", len(items), len(seen))
	}
}

// TestItemsFarFromTheBestDoNotGrow: their surroundings are read only if their relevance may still change.
func TestItemsFarFromTheBestDoNotGrow(t *testing.T) {
	var s shelf
	near, far := s.add(doc(1, "a.md"), lines(12)), s.add(doc(2, "b.md"), lines(12))
	for _, least := range []*float64{nil, new(ragctx.DefaultMinRelevance)} {
		q := ragctx.ContextQuery{Query: "topic", MinRelevance: least}
		items := assemble(t, &s, q, false, hit(near[3], .9), hit(far[4], passage.GrowShare*.9-.01))
		if len(items) != 2 || items[0].Forms.Wider.Text == "" || (items[1].Forms.Wider.Text == "") != (least != nil) {
			t.Errorf("minimum relevance %v: %+v", least, items)
		}
	}
}

// TestFormsNeedABudget: without one, items are the same, but have no other forms unless a form has the passage.
func TestFormsNeedABudget(t *testing.T) {
	for _, depth := range []ragctx.ContextDepth{ragctx.DepthOverview, ragctx.DepthFull} {
		for _, whole := range []bool{false, true} {
			var s shelf
			chunks := s.add(doc(1, "a.md"), lines(12))
			made := func(budget int) ragctx.ContextItem {
				q := ragctx.NewQuery("topic 3").WithDefaults()
				q.Depth, q.MaxTokens = depth, budget
				a, err := passage.Assemble(t.Context(), &s, passage.Request{
					Query: q, Search: index.Query{Now: now}, Hits: []index.Hit{hit(chunks[3], .9)}, Whole: whole,
				})
				if err == nil {
					err = a.Complete(t.Context())
				}
				if err != nil || len(a.Items) != 1 {
					t.Fatal(a.Items, err)
				}
				return a.Items[0]
			}
			with, without := made(4000), made(0)
			none := ragctx.Forms{}
			if reflect.DeepEqual(with.Forms, none) || reflect.DeepEqual(without.Forms, none) != (depth == ragctx.DepthOverview) {
				t.Errorf("%s: forms %v with a budget, %v without", depth, with.Forms, without.Forms)
			}
			with.Forms, without.Forms = none, none
			if !reflect.DeepEqual(with, without) {
				t.Errorf("%s: %+v with a budget, %+v without", depth, with, without)
			}
		}
	}
}

func TestHitsAreCheckedAgainstTheStore(t *testing.T) {
	var s shelf
	gone := doc(1, "gone")
	gone.Superseded = now.Add(-time.Minute)
	lapsed := doc(2, "lapsed")
	lapsed.Expires = now
	other := doc(3, "other")
	other.Namespace = "another"
	bobs := doc(4, "bobs")
	bobs.User = "bob"
	var hits []index.Hit
	for _, it := range []passage.Item{gone, lapsed, other, bobs, doc(5, "fine")} {
		for _, id := range s.add(it, "One text of "+it.Key+".") {
			hits = append(hits, hit(id, .5))
		}
	}
	hits = append(hits, hit(99, .9)) // no longer in the store
	keys := func(q ragctx.ContextQuery) (out []string) {
		for _, it := range assemble(t, &s, q, false, hits...) {
			out = append(out, it.Metadata["document"].(string))
		}
		return out
	}
	if got := keys(ragctx.NewQuery("text")); !slices.Equal(got, []string{"fine"}) {
		t.Errorf("shown: %v", got)
	}
	q := ragctx.NewQuery("text")
	q.UserID = "bob"
	if got := keys(q); !slices.Equal(got, []string{"bobs", "fine"}) {
		t.Errorf("shown to bob: %v", got)
	}
	q = ragctx.NewQuery("text")
	q.AsOf = now.Add(-30 * time.Minute)
	if got := keys(q); !slices.Equal(got, []string{"fine", "gone", "lapsed"}) {
		t.Errorf("shown as of then: %v", got)
	}
}

// TestErasedDuringTheAnswer: a text erased during assembly does not affect the other items, at
// whichever read it is missing.
func TestErasedDuringTheAnswer(t *testing.T) {
	for _, depth := range []ragctx.ContextDepth{ragctx.DepthOverview, ragctx.DepthFull} {
		for after := range 4 {
			c := erasing{shelf: new(shelf), item: 1, after: after}
			var hits []index.Hit
			for d := range uint64(2) {
				hits = append(hits, hit(c.add(doc(d+1, fmt.Sprint(d)), numbered(fmt.Sprint("storm ", d), 3000))[0], .5))
			}
			q := ragctx.NewQuery("storm")
			q.Depth = depth
			a, err := passage.Assemble(t.Context(), &c, passage.Request{Query: q.WithDefaults(), Search: index.Query{Now: now}, Hits: hits})
			if err == nil {
				err = a.Complete(t.Context())
			}
			if err != nil || a.Distinct != len(a.Items) || len(a.Items) == 0 {
				t.Fatalf("%s, erased after %d reads: %d of %d items, %v", depth, after, a.Distinct, len(a.Items), err)
			}
			if missed := c.reads > after; missed != (len(a.Items) == 1) {
				t.Errorf("%s, erased after %d of %d reads: %d items", depth, after, c.reads, len(a.Items))
			}
		}
	}
}

// erasing is a shelf that erases an item's text after some reads.
type erasing struct {
	*shelf

	item  uint64
	after int
	reads int
}

func (e *erasing) Text(ctx context.Context, item uint64, start, end int) (string, error) {
	if item == e.item {
		if e.reads++; e.reads > e.after {
			return "", ragctx.ErrNotFound
		}
	}
	return e.shelf.Text(ctx, item, start, end)
}

func TestDepths(t *testing.T) {
	var s shelf
	it := doc(1, "a.md")
	text := lines(40)
	section := strings.Index(text, "This is sentence number 10 ")
	end := strings.Index(text, "This is sentence number 20 ")
	it.Abstract = "What the text is about."
	it.Outline = func() []passage.Section {
		return []passage.Section{{Start: 0, End: len(text)}, {Start: section, End: end}}
	}
	s.add(it, text)
	at := hit(15, .8)

	abstract := assemble(t, &s, ragctx.NewQuery("number 14").WithDepth(ragctx.DepthAbstract), false, at)[0]
	if abstract.Content != "What the text is about.\nThis is sentence number 14 of the text about topic 14." {
		t.Errorf("abstract %q", abstract.Content)
	}
	overview := assemble(t, &s, ragctx.NewQuery("number 14"), false, at)[0]
	if len(overview.Forms.Shorter) != 0 { // a passage of one sentence is shorter than its abstract
		t.Errorf("overview steps down to %q", overview.Forms.Shorter)
	}
	full := assemble(t, &s, ragctx.NewQuery("number 14").WithDepth(ragctx.DepthFull), false, at, hit(18, .3))
	if len(full) != 1 || full[0].Forms.Wider.Text != "" {
		t.Fatalf("%d items for two hits of one section, wider %q", len(full), full[0].Forms.Wider.Text)
	}
	full = assemble(t, &s, ragctx.NewQuery("number 14").WithDepth(ragctx.DepthFull), false, at)
	if full[0].Content != strings.TrimSpace(text[section:end]) || full[0].Forms.Wider.Text != text {
		t.Errorf("full is %q, wider %d bytes", full[0].Content, len(full[0].Forms.Wider.Text))
	}
	if full[0].Metadata["lines"] != "21-39" {
		t.Errorf("the section is said to be lines %v", full[0].Metadata["lines"])
	}
	if len(full[0].Forms.Shorter) == 0 || full[0].Forms.Shorter[0].Depth != ragctx.DepthOverview {
		t.Errorf("full steps down to %+v", full[0].Forms.Shorter)
	}
}

func TestLinesOfEveryForm(t *testing.T) {
	var s shelf
	s.add(doc(1, "a.md"), lines(20))
	it := assemble(t, &s, ragctx.NewQuery("topic"), false, hit(5, .9))[0]
	all := strings.Split(lines(20), "\n")
	for _, c := range []struct{ text, lines string }{
		{it.Content, it.Metadata["lines"].(string)}, {it.Forms.Wider.Text, it.Forms.Wider.Lines},
	} {
		var from, to int
		if _, err := fmt.Sscanf(c.lines, "%d-%d", &from, &to); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(strings.Join(all[from-1:to], "\n")); got != c.text {
			t.Errorf("lines %s are %q, shown is %q", c.lines, got, c.text)
		}
	}
}

func TestAbstractIsShownOnce(t *testing.T) {
	var s shelf
	it := doc(1, "a.md")
	it.Abstract = "What the text is about."
	s.add(it, lines(40))
	items := assemble(t, &s, ragctx.NewQuery("topic").WithDepth(ragctx.DepthAbstract), false, hit(3, .9), hit(9, .8))
	if !strings.HasPrefix(items[0].Content, it.Abstract) || strings.Contains(items[1].Content, it.Abstract) {
		t.Errorf("abstracts %q and %q", items[0].Content, items[1].Content)
	}
}

func TestWholeItems(t *testing.T) {
	var s shelf
	it := doc(1, "turn-1")
	it.Type, it.Source = ragctx.TypeMemory, "memory"
	text := lines(10)
	s.add(it, text)
	long := it
	long.ID, long.Key = 2, "turn-2"
	ids := s.add(long, lines(200))
	items := assemble(t, &s, ragctx.NewQuery("topic"), true, hit(1, .5), hit(7, .9), hit(ids[3], .4), hit(ids[100], .2))
	if len(items) != 2 || items[0].ID != "turn-1" || items[1].ID != "turn-2" {
		t.Fatalf("items %+v", items)
	}
	if items[0].Content != text {
		t.Errorf("a short memory is not shown whole: %q", items[0].Content)
	}
	if c := items[1].Content; strings.Count(c, passage.Gap) != 1 || !strings.Contains(c, "number 3 ") || !strings.Contains(c, "number 100 ") {
		t.Errorf("a long memory's passages: %q", c)
	}
}

// TestLongTextShowsItsBestChunk: of a long text with more hits than a passage has room for, the best one is shown.
func TestLongTextShowsItsBestChunk(t *testing.T) {
	for _, depth := range []ragctx.ContextDepth{ragctx.DepthOverview, ragctx.DepthFull} {
		var s shelf
		it := doc(1, "turn-1")
		it.Type, it.Source = ragctx.TypeMemory, "memory"
		ids := s.add(it, lines(200))
		var hits []index.Hit
		for i := 0; i < 180; i += 2 {
			hits = append(hits, hit(ids[i], .4))
		}
		shown := assemble(t, &s, ragctx.NewQuery("topic").WithDepth(depth), true, append(hits, hit(ids[190], .9))...)[0]
		text := shown.Content
		if depth == ragctx.DepthFull {
			text = shown.Forms.Shorter[0].Text
		}
		if !strings.Contains(text, "number 190 ") || !strings.Contains(text, "number 0 ") ||
			utf8.RuneCountInString(text) > passage.OverviewChars {
			t.Errorf("%s: %d characters: %q", depth, len(text), text)
		}
	}
}

// TestLongRunDoesNotHideTheBestChunk: the first run of a text fills a passage, and the best chunk is in another one.
func TestLongRunDoesNotHideTheBestChunk(t *testing.T) {
	var s shelf
	it := doc(1, "turn-1")
	it.Type, it.Source = ragctx.TypeMemory, "memory"
	ids := s.add(it, lines(200))
	hits := []index.Hit{hit(ids[190], .9)}
	for _, id := range ids[:36] {
		hits = append(hits, hit(id, .4))
	}
	for _, depth := range []ragctx.ContextDepth{ragctx.DepthOverview, ragctx.DepthFull} {
		shown := assemble(t, &s, ragctx.NewQuery("topic").WithDepth(depth), true, hits...)[0]
		text := shown.Content
		if depth == ragctx.DepthFull {
			text = shown.Forms.Shorter[0].Text
		}
		if !strings.Contains(text, "number 190 ") {
			t.Errorf("%s: %q", depth, text)
		}
	}
}

// TestSectionKeepsAllPassages: a section that is shown once, and shortened, has the passages that were found in it.
func TestSectionKeepsAllPassages(t *testing.T) {
	var s shelf
	text := lines(40)
	s.add(doc(1, "a.md"), text)
	q := ragctx.NewQuery("topic").WithDepth(ragctx.DepthFull)
	q.MaxResults = 1
	items := assemble(t, &s, q, false, hit(25, .8), hit(5, .7), hit(35, .6))
	if len(items) != 1 || items[0].Content != strings.TrimSpace(text) {
		t.Fatalf("%d items", len(items))
	}
	short := items[0].Forms.Shorter[0]
	for i, n := range []string{"number 4 ", "number 24 ", "number 34 "} {
		if parts := strings.Split(short.Text, passage.Gap); len(parts) != 3 || !strings.Contains(parts[i], n) {
			t.Errorf("the passage lacks %q: %q", n, short.Text)
		}
	}
	if short.Lines != "9-69" {
		t.Errorf("the passage is said to be lines %s", short.Lines)
	}
	last := items[0].Forms.Shorter[len(items[0].Forms.Shorter)-1]
	if !strings.Contains(last.Text, "number 24 ") || last.Lines != "49-49" {
		t.Errorf("the shortest form is %q, lines %s; want the best hit", last.Text, last.Lines)
	}
}

func TestExclude(t *testing.T) {
	var s shelf
	s.add(doc(1, "a"), lines(20))
	q := ragctx.NewQuery("topic").WithMaxResults(1)
	q.Exclude = []string{"a@2#0"}
	items := assemble(t, &s, q, false, hit(1, .9), hit(10, .5))
	if len(items) != 1 || items[0].ID != "a@2#9" {
		t.Errorf("got %+v", items)
	}
}

func TestItemIDsSplitFromTheRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringN(1, 40, 200).Draw(t, "key") + rapid.SampledFrom([]string{"", "@1#2", "#", "@"}).Draw(t, "suffix")
		version, ordinal := rapid.IntRange(1, 1e6).Draw(t, "version"), rapid.IntRange(0, 1e6).Draw(t, "ordinal")
		k, v, o, ok := passage.ParseItemID(passage.ItemID(key, version, ordinal))
		if !ok || k != key || v != version || o != ordinal {
			t.Fatalf("%q came back as %q %d %d %v", key, k, v, o, ok)
		}
	})
	for _, bad := range []string{"", "a", "a@1", "a#1", "@1#1", "a@0#1", "a@1#-1", "a@x#1", "a@1#x"} {
		if _, _, _, ok := passage.ParseItemID(bad); ok {
			t.Errorf("%q was read as an item id", bad)
		}
	}
}

// TestFirstDistinct checks that duplicates take no place of other texts.
func TestFirstDistinct(t *testing.T) {
	items := []ragctx.ContextItem{{ID: "1", Content: "a b"}, {ID: "2", Content: "a\nb"}, {ID: "3", Content: "c"}, {ID: "4", Content: "d"}}
	if got := passage.FirstDistinct(items, 2); len(got) != 3 || got[2].ID != "3" {
		t.Errorf("%+v", got)
	}
	if got := passage.FirstDistinct(items, 9); len(got) != 4 {
		t.Errorf("%+v", got)
	}
}
