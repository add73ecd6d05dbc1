package indextest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/index"
)

func keywordEmpty(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.both(func() { l.want("anything") })
	if c := l.ix.Cursor(); c != 0 {
		t.Errorf("Cursor = %d", c)
	}
	res := l.search(index.KeywordQuery{Text: "anything", K: 5})
	if res.Max <= 0 {
		t.Errorf("Max = %v for a query with a term", res.Max)
	}
}

func keywordVisibleAtOnce(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	word := func(id uint64) string { return fmt.Sprintf("%c%d", 'a'+id/10, id%10) } // too short for grams
	for id := uint64(1); id <= 50; id++ {
		l.put(id, "some text with "+word(id))
		l.want(word(id), id)
		if id%20 == 0 {
			l.flush()
		}
	}
	for id := uint64(1); id <= 50; id++ {
		l.want(word(id), id)
	}
}

func keywordApplyTwice(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	batch := []index.TextChunk{{ID: 1, Text: "alpha beta"}, {ID: 2, Text: "beta gamma"}}
	l.apply([]index.TextChunk{{ID: 3, Text: "beta"}})
	l.apply(batch, 3)
	once := l.search(index.KeywordQuery{Text: "alpha beta gamma", K: 10})
	l.both(func() {
		l.seq--
		l.apply(batch, 3)
		if diff := cmp.Diff(once, l.search(index.KeywordQuery{Text: "alpha beta gamma", K: 10})); diff != "" {
			t.Errorf("after the same batch again (-once +twice):\n%s", diff)
		}
		if n := l.ix.Stats().Chunks; n != 2 {
			t.Errorf("Chunks = %d, want 2", n)
		}
	})
}

func keywordReplace(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(7, "old words")
	l.both(func() {
		l.put(7, "new phrase")
		l.want("old")
		l.want("phrase", 7)
	})
	l.flush()
	l.put(7, "third")
	l.both(func() {
		l.want("new")
		l.want("third", 7)
	})
}

func keywordDelete(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{{ID: 1, Text: "shared one"}, {ID: 2, Text: "shared two"}, {ID: 3, Text: "shared three"}})
	l.apply(nil, 2, 99)
	l.both(func() { l.want("shared", 1, 3) })
	l.apply(nil, 1)
	l.both(func() { l.want("shared", 3) })
	l.put(1, "shared again")
	l.both(func() { l.want("shared", 1, 3) })
	l.apply(nil, 1, 3)
	l.both(func() { l.want("shared") })
}

func keywordUpsertThenDelete(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{{ID: 1, Text: "here"}, {ID: 2, Text: "here"}}, 1)
	l.both(func() { l.want("here", 2) })
}

func keywordLastUpsertWins(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{{ID: 1, Text: "first"}, {ID: 1, Text: "second"}})
	l.both(func() {
		l.want("first")
		l.want("second", 1)
	})
}

func keywordTitle(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{
		{ID: 1, Title: "Other matters", Text: "the compass points north"},
		{ID: 2, Title: "The compass", Text: "other matters point north"},
	})
	l.both(func() { l.want("compass", 2, 1) })
}

func keywordAccept(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	var chunks []index.TextChunk
	for id := uint64(1); id <= 300; id++ {
		chunks = append(chunks, index.TextChunk{ID: id, Text: "needle" + fmt.Sprint(" filler", id)[:int(id%7)+1]})
	}
	l.apply(chunks[:150])
	l.flush()
	l.apply(chunks[150:])
	accept := func(id uint64) bool { return id%29 == 0 } // 10 of 300
	l.both(func() {
		res := l.search(index.KeywordQuery{Text: "needle", K: 10, Accept: accept})
		if len(res.Hits) != 10 {
			t.Fatalf("%d hits, want the 10 that are accepted", len(res.Hits))
		}
		for _, h := range res.Hits {
			if !accept(h.ID) {
				t.Errorf("hit %d was not accepted", h.ID)
			}
		}
		none := l.search(index.KeywordQuery{Text: "needle", K: 10, Accept: func(uint64) bool { return false }})
		if len(none.Hits) != 0 || none.Max != res.Max {
			t.Errorf("with nothing accepted: %d hits, Max %v instead of %v", len(none.Hits), none.Max, res.Max)
		}
	})
}

func keywordAcceptCalls(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{{ID: 1, Text: "apple"}, {ID: 2, Text: "pear"}, {ID: 3, Text: "apple pear"}})
	l.both(func() {
		asked := make(map[uint64]bool)
		res := l.search(index.KeywordQuery{Text: "apple", K: 5, Accept: func(id uint64) bool {
			asked[id] = true
			return true
		}})
		for _, h := range res.Hits {
			if !asked[h.ID] {
				t.Errorf("hit %d was never asked about", h.ID)
			}
		}
		if asked[2] {
			t.Error("asked about a chunk that does not match")
		}
	})
}

func keywordTies(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	ids := []uint64{1 << 63, 5, 900, 3, 77, 12, ^uint64(0), 0}
	for i, id := range ids {
		l.put(id, "equal text")
		if i == 4 {
			l.flush()
		}
	}
	slices.Sort(ids)
	l.both(func() {
		l.want("equal", ids...)
		for k := range len(ids) {
			var got []uint64
			for _, h := range l.search(index.KeywordQuery{Text: "equal", K: k}).Hits {
				got = append(got, h.ID)
			}
			if !slices.Equal(got, ids[:k]) {
				t.Errorf("K %d: %v, want %v", k, got, ids[:k])
			}
		}
	})
}

func keywordMax(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "ship ship ship ship ship ship ship ship ship ship")
	l.put(2, "harbour")
	l.put(3, "ship harbour")
	l.both(func() {
		for _, q := range []string{"ship", "harbour", "ship harbour", "ship harbour absent"} {
			res := l.search(index.KeywordQuery{Text: q, K: 10})
			for _, h := range res.Hits {
				if !(h.Score > 0 && h.Score <= res.Max) {
					t.Errorf("%q: score %v of %d, Max %v", q, h.Score, h.ID, res.Max)
				}
			}
		}
		known := l.search(index.KeywordQuery{Text: "ship", K: 1}).Max
		more := l.search(index.KeywordQuery{Text: "ship absent", K: 1}).Max
		if more <= known {
			t.Errorf("Max %v with an unknown term is not above %v without", more, known)
		}
	})
}

func keywordK(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{{ID: 1, Text: "tree"}, {ID: 2, Text: "tree leaf"}, {ID: 3, Text: "tree leaf bark root"}})
	l.both(func() {
		all := l.search(index.KeywordQuery{Text: "tree", K: 1 << 40}).Hits
		if len(all) != 3 {
			t.Fatalf("%d hits for a huge K, want 3", len(all))
		}
		for _, k := range []int{-1, 0, 1, 2} {
			hits := l.search(index.KeywordQuery{Text: "tree", K: k}).Hits
			if !slices.Equal(hits, all[:max(k, 0)]) {
				t.Errorf("K %d: %v is not a prefix of %v", k, hits, all)
			}
		}
	})
}

func keywordNoTerms(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "text")
	l.both(func() {
		for _, q := range []string{"", "  ", "?!", "\xff\xfe"} {
			if res := l.search(index.KeywordQuery{Text: q, K: 3}); len(res.Hits) != 0 || res.Max != 0 {
				t.Errorf("%q: %+v, want nothing", q, res)
			}
		}
	})
}

func keywordStopWords(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "to be or not to be")
	l.put(2, "a question of the garden")
	l.both(func() {
		l.want("to be or not to be", 1)
		l.want("what about the garden", 2)
	})
}

func keywordRepeatedWord(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "old bank")
	l.put(2, "lake delta")
	l.both(func() {
		l.want("bank lake", 1, 2)
		l.want("bank lake lakes", 2, 1)
	})
}

func keywordUnicode(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	for id, text := range []string{
		"Der Zug fährt über die Brücke", "Les élèves étudient à l'école", "El niño comió manzanas",
		"Он читал новые книги",
		"قرأ الكتاب في المدرسة", "机器学习改变世界", "データベースを検索する",
		"ภาษาไทยอ่านยาก", "हिन्दी में किताब", "서울에서 만나요",
	} {
		l.put(uint64(id), text)
	}
	l.both(func() {
		for id, q := range []string{"BRÜCKE", "école", "niño", "книга", "كتاب", "学习", "検索", "ไทย", "किताब", "서울"} {
			l.want(q, uint64(id))
		}
	})
}

func keywordOddChunks(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	long := make([]byte, 1<<18)
	for i := range long {
		long[i] = 'x'
	}
	l.apply([]index.TextChunk{
		{ID: 0, Text: "zero"},
		{ID: ^uint64(0), Text: "most"},
		{ID: 2},
		{ID: 3, Text: "\xff\x00broken\xfe"},
		{ID: 4, Title: "only a title"},
		{ID: 5, Text: string(long)},
	})
	l.both(func() {
		l.want("zero", 0)
		l.want("most", ^uint64(0))
		l.want("broken", 3)
		l.want("title", 4)
		l.want(string(long), 5)
		if n := l.ix.Stats().Chunks; n != 6 {
			t.Errorf("Chunks = %d, want 6", n)
		}
	})
}
