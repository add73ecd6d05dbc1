package pgvector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Sizes of a search. As many of the rarest features choose the candidates as about that many chunks have. The grams of words that are
// not rare are looked up in the texts of the short list only.
const (
	candidates    = 2_000
	maxCandidates = 32_000
	shortList     = 300
	rareWord      = 8
)

// Features of a long query. More are not counted, words before pairs and these before grams; of those that chunks have, the rarest are
// scored.
const (
	maxCounted = 1_000
	maxScored  = 200
)

// spill is the share of the terms of a neighbour in a long text, by its distance.
var spill = [...]float64{1, .4, .2, .1}

// frequency is in how many chunks and items a feature is.
type frequency struct{ Chunks, Items int64 }

// feature is a feature of a query.
type feature struct {
	keyword.QueryFeature
	frequency

	late                    bool    // a gram of words that are not rare
	textWeight, chunkWeight float64 // in the score of an item and of a chunk, 0 if it does not count
}

func featuresOf(q *index.KeywordQuery) (list []feature) {
	for _, f := range keyword.QueryFeatures(q) {
		if storable(f.Text) {
			list = append(list, feature{QueryFeature: f})
		}
	}
	if len(list) > maxCounted {
		slices.SortStableFunc(list, func(a, b feature) int { return cmp.Compare(a.Kind, b.Kind) })
		list = list[:maxCounted]
	}
	return list
}

// shortened returns the features of a query without the most common ones of a long query.
func shortened(features []feature, chunks int64) []feature {
	scored := 0
	for _, i := range byRarity(features) {
		if f := &features[i]; f.counts(chunks) {
			if scored++; scored > maxScored {
				f.Weight = 0
			}
		}
	}
	return slices.DeleteFunc(features, func(f feature) bool { return f.Weight == 0 })
}

// byRarity marks the late features, and returns the numbers of all, the rarest first and the late ones at the end.
func byRarity(features []feature) []int {
	rare := make(map[string]bool)
	for _, f := range features {
		rare[f.Text] = f.Kind == analysis.Word && f.Chunks < rareWord
	}
	order := make([]int, len(features))
	for i := range features {
		f := &features[i]
		order[i] = i
		f.late = f.Kind == analysis.Gram && !slices.ContainsFunc(f.Of, func(word string) bool { return rare[word] })
	}
	late := func(i int) int {
		if features[i].late {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(late(a)-late(b), cmp.Compare(features[a].Chunks, features[b].Chunks))
	})
	return order
}

// choose returns the numbers of the features that choose the candidates. all reports that all do.
func choose(features []feature, most int, chunks int64) (chosen []int, all bool) {
	all = true
	sum := int64(0)
	for _, i := range byRarity(features) {
		f := &features[i]
		if !f.counts(chunks) {
			continue
		}
		if sum += f.Chunks; sum > int64(most) && len(chosen) > 0 {
			return chosen, false
		}
		chosen = append(chosen, i)
	}
	return chosen, all
}

// counts reports whether a chunk has the feature, and it is not ignored.
func (f *feature) counts(chunks int64) bool { return f.Chunks > 0 && !f.ignored(chunks) }

// ignored reports whether a gram does not count, as it is too common.
func (f *feature) ignored(chunks int64) bool {
	return f.Chunks > int64(keyword.LimitOf(f.Kind, int(chunks)))
}

// candidate is a chunk that has a chosen feature.
type candidate struct {
	id, item           int64
	place, chunks      int32
	length, itemLength int32
	tf                 []int16 // by feature
	opening            []bool
	score              float64
}

// scorer scores the candidates of a search.
type scorer struct {
	params   index.KeywordParams
	features []feature
	counts   // of the collection

	found []candidate // by item and place
	max   float64     // the score that no text exceeds
}

// prepare computes what the numbers of the collection decide.
func (s *scorer) prepare() {
	s.max = 0
	for i := range s.features {
		f := &s.features[i]
		f.textWeight, f.chunkWeight = 0, 0
		if f.ignored(s.counts.chunks) {
			continue
		}
		f.textWeight = f.Weight * inverse(s.items, f.Items)
		f.chunkWeight = s.params.Passage * f.Weight * inverse(s.counts.chunks, f.Chunks)
		s.max += f.textWeight + f.chunkWeight
		if f.Kind == analysis.Word {
			s.max += s.params.Opening * f.textWeight
		}
	}
}

// candidates reads chunks that have a chosen feature, with the frequencies of words and pairs and of the grams that are not late.
func (x *keywordIndex) candidates(ctx context.Context, s *scorer, chosen []int, only index.Only, most int) error {
	var wanted [2][]string
	for _, i := range chosen {
		column := 0
		if s.features[i].Kind == analysis.Gram {
			column = 1
		}
		wanted[column] = append(wanted[column], x.lexeme(s.features[i].Text))
	}
	var counted, opening, present []string
	var countedAt, presentAt []int
	for i, f := range s.features {
		switch {
		case f.late || !f.counts(x.chunks.Load()):
		case f.Kind == analysis.Gram:
			present, presentAt = append(present, x.lexeme(f.Text)), append(presentAt, i)
		default:
			counted, countedAt = append(counted, x.lexeme(f.Text)), append(countedAt, i)
			opening = append(opening, x.lexeme(f.Text)+":A")
		}
	}
	text := `SELECT c.chunks, c.items, c.length, w.chunk, w.item, w.place, w.chunks, w.length, w.item_length,
  ARRAY(SELECT coalesce(frequency(w.words, q.one), 0) + CASE WHEN w.words @@ q.opening THEN 32 ELSE 0 END
    FROM unnest($4::text[]::tsquery[], $5::text[]::tsquery[]) q(one, opening)),
  ARRAY(SELECT q.at FROM unnest($6::text[]::tsquery[]) WITH ORDINALITY q(one, at) WHERE w.grams @@ q.one)
FROM collections c, LATERAL (
  SELECT * FROM words WHERE (words @@ $2::tsquery OR grams @@ $3::tsquery) %s LIMIT $7
) w WHERE c.id = $1`
	args := []any{x.id, strings.Join(wanted[0], "|"), strings.Join(wanted[1], "|"), counted, opening, present, most}
	among := ""
	if only != nil {
		among = "AND collection = $1 AND chunk = ANY($8)"
		args = append(args, keysOf(only))
	}
	rows, _ := x.pool.Query(ctx, fmt.Sprintf(text, among), args...)
	s.found = s.found[:0]
	for rows.Next() {
		var c candidate
		var tf []int16
		var grams []int64
		err := rows.Scan(&s.chunks, &s.items, &s.length, &c.id, &c.item, &c.place, &c.chunks, &c.length, &c.itemLength, &tf, &grams)
		if err != nil {
			rows.Close()
			return err
		}
		c.tf, c.opening = make([]int16, len(s.features)), make([]bool, len(s.features))
		for n, i := range countedAt {
			c.tf[i], c.opening[i] = tf[n]%32, tf[n] >= 32
		}
		for _, n := range grams {
			c.tf[presentAt[n-1]] = 1
		}
		s.found = append(s.found, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(s.found) == 0 {
		row := x.pool.QueryRow(ctx, "SELECT chunks, items, length FROM collections WHERE id = $1", x.id)
		err := row.Scan(&s.chunks, &s.items, &s.length)
		if errors.Is(err, pgx.ErrNoRows) {
			return errTaken
		}
		if err != nil {
			return err
		}
	}
	x.chunks.Store(s.counts.chunks)
	s.prepare()
	slices.SortFunc(s.found, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.place, b.place)) })
	return nil
}

// rank scores the candidates, and those on the short list again with the late features.
func (x *keywordIndex) rank(ctx context.Context, s *scorer, q *index.KeywordQuery) error {
	s.score()
	var late []string
	var lateAt []int
	for i, f := range s.features {
		if f.late && f.Chunks > 0 && f.textWeight > 0 {
			late, lateAt = append(late, x.lexeme(f.Text)), append(lateAt, i)
		}
	}
	if len(late) == 0 || len(s.found) == 0 {
		return nil
	}
	s.shorten(max(shortList, q.K), q.Accept)
	at := make(map[int64]int, len(s.found))
	keys := make([]int64, len(s.found))
	for i, c := range s.found {
		at[c.id], keys[i] = i, c.id
	}
	rows, _ := x.pool.Query(ctx, `SELECT chunk,
  ARRAY(SELECT q.at FROM unnest($3::text[]::tsquery[]) WITH ORDINALITY q(one, at) WHERE grams @@ q.one)
FROM words WHERE collection = $1 AND chunk = ANY($2)`, x.id, keys, late)
	var id int64
	var grams []int64
	_, err := pgx.ForEachRow(rows, []any{&id, &grams}, func() error {
		for _, n := range grams {
			s.found[at[id]].tf[lateAt[n-1]] = 1
		}
		return nil
	})
	s.score()
	return err
}

// shorten keeps the candidates of the items that have one of the n best accepted ones.
func (s *scorer) shorten(n int, accept index.Accept) {
	if len(s.found) <= n {
		return
	}
	items := make(map[int64]bool)
	of := make(map[uint64]int64, len(s.found))
	for _, c := range s.found {
		of[chunkOf(c.id)] = c.item
	}
	for _, h := range s.best(n, accept) {
		items[of[h.ID]] = true
	}
	s.found = slices.DeleteFunc(s.found, func(c candidate) bool { return !items[c.item] })
}

// accepted returns the number of accepted candidates.
func (s *scorer) accepted(accept index.Accept) (n int) {
	for _, c := range s.found {
		if accept == nil || accept(chunkOf(c.id)) {
			n++
		}
	}
	return n
}

// best returns the k best accepted candidates.
func (s *scorer) best(k int, accept index.Accept) []index.Scored {
	hits := make([]index.Scored, 0, len(s.found))
	for _, c := range s.found {
		if c.score > 0 {
			hits = append(hits, index.Scored{ID: chunkOf(c.id), Score: c.score})
		}
	}
	slices.SortFunc(hits, func(a, b index.Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	kept := hits[:0]
	for _, h := range hits {
		if len(kept) >= k {
			break
		}
		if accept == nil || accept(h.ID) {
			kept = append(kept, h)
		}
	}
	return kept
}

// inverse returns the inverse frequency of a feature that n of all texts have. n may be out of date.
func inverse(all, n int64) float64 {
	return keyword.InverseFrequency(int(max(all, n)), int(n))
}

// score scores all candidates; see package keyword.
func (s *scorer) score() {
	inItem := keyword.SaturationOf(s.params, int(s.items), float64(s.length))
	inChunk := keyword.SaturationOf(s.params, int(s.counts.chunks), float64(s.length))
	for rest := s.found; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].item == rest[0].item {
			n++
		}
		text := rest[:n]
		rest = rest[n:]
		for i := range text {
			text[i].score = 0
		}
		whole := 0.0
		for i := range s.features {
			f := &s.features[i]
			sum, opening := 0.0, false
			for _, c := range text {
				sum += float64(c.tf[i])
				opening = opening || c.opening[i]
			}
			if sum == 0 || f.textWeight == 0 {
				continue
			}
			whole += f.textWeight * inItem.Of(sum, float64(text[0].itemLength))
			if opening && f.Kind == analysis.Word {
				whole += s.params.Opening * f.textWeight
			}
			for n := range text {
				if tf := near(text, n, i); tf > 0 {
					text[n].score += f.chunkWeight * inChunk.Of(tf, float64(text[n].length))
				}
			}
		}
		for i := range text {
			if text[i].score > 0 || s.params.Passage == 0 {
				text[i].score = min(text[i].score+whole, s.max)
			}
		}
	}
}

// near returns the frequency of a feature in a chunk of a text, with those of its neighbours if the text is long.
func near(text []candidate, n, feature int) (tf float64) {
	if text[n].chunks < index.LongText {
		return float64(text[n].tf[feature])
	}
	for i := max(0, n-len(spill)+1); i < min(len(text), n+len(spill)); i++ {
		if d := max(text[i].place-text[n].place, text[n].place-text[i].place); int(d) < len(spill) {
			tf += spill[d] * float64(text[i].tf[feature])
		}
	}
	return tf
}

// groups scores groups of candidates by their words, each as one text.
func (s *scorer) groups(g *index.Groups) []float64 {
	if g == nil {
		return nil
	}
	scores := make([]float64, len(g.Sizes))
	average, chunks := float64(s.length)/float64(max(1, s.counts.chunks)), 0.0
	for _, n := range g.Sizes {
		chunks += float64(n)
	}
	inGroup := keyword.SaturationOf(s.params, len(scores), chunks*average)
	of := make([]int32, len(s.found))
	for i, c := range s.found {
		of[i] = g.Of(chunkOf(c.id))
	}
	for i, f := range s.features {
		if f.Kind != analysis.Word {
			continue
		}
		tf := make([]float64, len(scores))
		for n, c := range s.found {
			if of[n] >= 0 && int(of[n]) < len(tf) {
				tf[of[n]] += float64(c.tf[i])
			}
		}
		having := int64(0)
		for _, n := range tf {
			if n > 0 {
				having++
			}
		}
		idf := f.Weight * inverse(int64(len(scores)), having)
		for group, n := range tf {
			if n > 0 {
				scores[group] += idf * inGroup.Of(n, float64(g.Sizes[group])*average)
			}
		}
	}
	return scores
}
