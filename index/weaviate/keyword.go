package weaviate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Terms that the whitespace tokenizer of the server must not split or confuse. A pair of words is joined by pairMark, and letters of
// a word begin with gramMark. A chunk has filler until its number of terms is termsPerWord times its number of words and smoothing:
// the server's BM25 then has the same lengths as ours.
const (
	pairMark     = "|"
	gramMark     = "^"
	filler       = "*"
	termsPerWord = 7
	smoothing    = 20
)

// Parameters of the server's score, fixed when a class is created. They equal the defaults of [index.KeywordParams].
const (
	k1 = 1.2
	b  = 0.9
)

// A query repeats a term in proportion to its weight. It has a word copiesPerWord times, so that lighter terms can have fewer copies.
const (
	copiesPerWord = 20
	maxCopies     = 5 * copiesPerWord
)

// termEncoder makes the server's terms of ours.
var termEncoder = strings.NewReplacer(" ", pairMark, "\x01", gramMark)

// termsOf returns the terms of a chunk, separated by spaces.
func termsOf(c index.TextChunk) string {
	var out strings.Builder
	words, terms := 0, 0
	often := make(map[string]int) // the terms written so far
	put := func(term string, n, most int) {
		for range min(n, most-often[term]) {
			out.WriteString(term + " ")
			often[term]++
			terms++
		}
	}
	for i, text := range []string{c.Title, c.Text, c.Extra} {
		analysis.Features(text, func(kind analysis.Kind, feature []byte) {
			term := termEncoder.Replace(string(feature))
			switch {
			case kind != analysis.Word:
				put(term, 1, 1)
			case i == 0:
				words++
				put(term, keyword.TitleWeight, keyword.MaxFrequency)
			default:
				if i == 1 {
					words++
				}
				put(term, 1, keyword.MaxFrequency)
			}
		})
	}
	for range termsPerWord*(words+smoothing) - terms {
		out.WriteString(filler + " ")
	}
	return out.String()
}

// keywordIndex is an [index.KeywordIndex] in a tenant. The server scores each chunk by its own words; see docs/weaviate.md for what
// that leaves out.
type keywordIndex struct {
	tenant

	freqs keyword.Frequencies[int64]
}

var _ index.KeywordIndex = (*keywordIndex)(nil)

// Apply implements [index.KeywordIndex].
func (x *keywordIndex) Apply(ctx context.Context, seq uint64, upserts []index.TextChunk, deletes []uint64) error {
	objects := make([]object, 0, len(upserts))
	for _, u := range index.Effective(upserts, deletes, func(u index.TextChunk) uint64 { return u.ID }) {
		objects = append(objects, object{
			Class: x.class, Tenant: x.name, ID: objectID(u.ID), Properties: map[string]any{"chunk": true, "terms": termsOf(u)},
		})
	}
	x.freqs.Changed(len(objects) + len(deletes))
	return x.apply(ctx, seq, objects, deletes)
}

// copies is a term of a query with the number of its copies.
type copies struct {
	term string
	n    int
}

// copiesOf returns the terms of a query, and the weight of one copy.
func copiesOf(q *index.KeywordQuery) (list []copies, unit float64) {
	features := keyword.QueryFeatures(q)
	unit = 1.0 / copiesPerWord
	for _, f := range features {
		unit = max(unit, f.Weight/maxCopies)
	}
	for _, f := range features {
		list = append(list, copies{termEncoder.Replace(f.Text), max(1, int(math.Round(f.Weight/unit)))})
	}
	return list, unit
}

// Search implements [index.KeywordIndex]. Groups have no scores, and nothing is corrected.
func (x *keywordIndex) Search(ctx context.Context, q index.KeywordQuery) (res index.KeywordResult, err error) {
	if x.closed.Load() {
		return res, index.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	if err := q.Params.Validate(); err != nil {
		return res, fmt.Errorf("search in Weaviate: %w", err)
	}
	if q.Groups != nil {
		res.Groups = make([]float64, len(q.Groups.Sizes))
	}
	terms, unit := copiesOf(&q)
	if len(terms) == 0 {
		return res, nil
	}
	var bound float64
	var boundErr error
	var both sync.WaitGroup
	both.Go(func() { bound, boundErr = x.bound(ctx, terms) })
	var text strings.Builder
	for _, t := range terms {
		for range t.n {
			text.WriteString(t.term + " ")
		}
	}
	res.Hits, err = x.best(ctx, ",bm25:{properties:[\"terms\"],query:"+quote(text.String())+"}", false, q.K, q.Accept, q.Only,
		func(h hit) (float64, error) {
			s, err := strconv.ParseFloat(h.Score, 64)
			return unit * s, err
		})
	both.Wait()
	res.Max = unit * bound
	if err = errors.Join(err, boundErr); err != nil {
		return index.KeywordResult{}, err
	}
	// A chunk without a score was found by words that a concurrent write has removed.
	res.Hits = slices.DeleteFunc(res.Hits, func(h index.Scored) bool { return !(h.Score > 0) })
	if len(res.Hits) > 0 { // the server's count of chunks is approximate
		res.Max = max(res.Max, res.Hits[0].Score)
	}
	return res, nil
}

// bound returns the score that no chunk exceeds, in copies.
func (x *keywordIndex) bound(ctx context.Context, terms []copies) (sum float64, err error) {
	chunks, err := x.countChunks(ctx)
	if err != nil {
		return 0, err
	}
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = t.term
	}
	freqs, err := x.freqs.Of(texts, chunks, func(lacking []string) ([]int64, error) {
		filters := make([]string, len(lacking))
		for i, term := range lacking {
			filters[i] = hasTerm(term)
		}
		return x.counts(ctx, filters)
	})
	if err != nil {
		return 0, err
	}
	for i, t := range terms {
		n, all := float64(freqs[i]), float64(chunks+1) // the server counts the tenant's state, too
		sum += float64(t.n) * math.Log1p((max(all, n)-n+0.5)/(n+0.5))
	}
	return sum, nil
}

// hasTerm is a filter that the chunks with a term pass.
func hasTerm(term string) string {
	return `{path:["terms"],operator:Equal,valueText:` + quote(term) + "}"
}

// Holding implements [index.KeywordIndex]. It fails if more than [maxResults] chunks have the terms.
func (x *keywordIndex) Holding(ctx context.Context, terms []string) ([]uint64, error) {
	if x.closed.Load() {
		return nil, index.ErrClosed
	}
	all := []string{everyChunk}
	for _, t := range terms {
		all = append(all, hasTerm(termEncoder.Replace(t)))
	}
	rows, err := x.find(ctx, "", "{operator:And,operands:["+strings.Join(all, ",")+"]}", maxResults)
	if err != nil {
		return nil, err
	}
	if len(rows) == maxResults {
		return nil, fmt.Errorf("%w: weaviate: more than %d chunks have the words", ragctx.ErrUnavailable, maxResults)
	}
	ids := make([]uint64, 0, len(rows))
	for _, row := range rows {
		id, err := chunkOf(row.ID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}

// Words implements [index.KeywordIndex]. The server does not list words, so a pattern has none.
func (x *keywordIndex) Words(context.Context, analysis.Pattern, int) ([]string, error) {
	if x.closed.Load() {
		return nil, index.ErrClosed
	}
	return nil, nil
}
