package pgvector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// maxHolding is the number of chunks that [keywordIndex.Holding] returns at most.
const maxHolding = 100_000

// maxOnly is the number of ids up to which a search sends them.
const maxOnly = 5_000

// maxTerm bounds the bytes of a term: the server takes less than 2 KiB, with the number of the collection.
const maxTerm = 2_000

// maxLexemes bounds the bytes of the lexemes of a chunk in one column: the server takes less than 1 MiB.
const maxLexemes = 900_000

// keywordIndex is an [index.KeywordIndex] in the table of words. The server finds the chunks that have the rarer features of a query,
// and returns how often each has them; they are scored here, as package keyword does.
type keywordIndex struct {
	part

	freqs          keyword.Frequencies[frequency]
	candidatesUpTo int
}

var _ index.KeywordIndex = (*keywordIndex)(nil)

// lexeme quotes a term of a collection for the server.
func (x *keywordIndex) lexeme(term string) string {
	return fmt.Sprintf("'%d:%s'", x.id, quoting.Replace(term))
}

// storable reports whether the server can hold a term. No chunk has others, which it rejects in a query, too.
func storable(term string) bool {
	return len(term) <= maxTerm && utf8.ValidString(term) && !strings.Contains(term, "\x00")
}

var quoting = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// row is a chunk as it is stored.
type row struct {
	chunk, item          int64
	place, chunks        int32
	length, itemLength   int32
	wordVector, gramText string
}

// rowsOf returns the rows of a batch, in which every item is complete.
func (x *keywordIndex) rowsOf(chunks []index.TextChunk) []row {
	chunks = slices.SortedFunc(slices.Values(chunks), func(a, b index.TextChunk) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.ID, b.ID))
	})
	rows := make([]row, 0, len(chunks))
	for len(chunks) > 0 {
		n := 1
		for n < len(chunks) && chunks[n].Item == chunks[0].Item {
			n++
		}
		first, open := len(rows), keyword.OpeningWords
		var length int32
		for i, c := range chunks[:n] {
			var r row
			r, open = x.rowOf(c, i == 0, open)
			r.place, r.chunks = int32(i), int32(n) //nolint:gosec // far fewer
			length += r.length
			rows = append(rows, r)
		}
		for i := range rows[first:] {
			rows[first+i].itemLength = length
		}
		chunks = chunks[n:]
	}
	return rows
}

// rowOf returns the row of a chunk. Its first open words are of the item's opening, and so is the title of the first chunk.
func (x *keywordIndex) rowOf(c index.TextChunk, first bool, open int) (r row, left int) {
	r = row{chunk: key(c.ID), item: int64(c.Item)} //nolint:gosec // below 1<<62
	type count struct {
		n       int
		opening bool
	}
	words := make(map[string]count)
	others := [2]strings.Builder{} // pairs and grams
	seen := make(map[string]bool)
	for i, text := range []string{c.Title, c.Text, c.Extra} {
		analysis.Features(text, func(kind analysis.Kind, feature []byte) {
			if kind != analysis.Word {
				to := &others[kind-analysis.Pair]
				if !seen[string(feature)] && to.Len() < maxLexemes/2 {
					seen[string(feature)] = true
					to.WriteString(x.lexeme(string(feature)) + " ")
				}
				return
			}
			w := words[string(feature)]
			switch i {
			case 0:
				w.n += keyword.TitleWeight
				w.opening = w.opening || first
			default:
				w.n++
				if i == 1 && open > 0 {
					open--
					w.opening = true
				}
			}
			if i < 2 {
				r.length++
			}
			words[string(feature)] = w
		})
	}
	out := &others[0]
	for term, w := range words {
		if out.Len() > maxLexemes {
			break
		}
		out.WriteString(x.lexeme(term) + ":1")
		if w.opening {
			out.WriteByte('A')
		}
		for n := 2; n <= min(w.n, keyword.MaxFrequency); n++ {
			fmt.Fprintf(out, ",%d", n)
		}
		out.WriteByte(' ')
	}
	r.wordVector, r.gramText = others[0].String(), others[1].String()
	return r, open
}

const insertWords = `INSERT INTO words
SELECT $1, u.chunk, u.item, u.place, u.chunks, u.length, u.item_length, u.words::tsvector, u.grams::tsvector
FROM unnest($2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::int[], $7::int[], $8::text[], $9::text[])
  u(chunk, item, place, chunks, length, item_length, words, grams)`

// Apply implements [index.KeywordIndex].
func (x *keywordIndex) Apply(ctx context.Context, seq uint64, upserts []index.TextChunk, deletes []uint64) error {
	if x.closed.Load() {
		return index.ErrClosed
	}
	gone := slices.Clone(deletes)
	for _, u := range upserts {
		gone = append(gone, u.ID)
	}
	defer x.freqs.Changed(len(gone)) // when it is committed
	if len(gone) == 0 || x.follows() {
		return x.apply(ctx, seq, gone, counts{}, nil)
	}
	rows := x.rowsOf(index.Effective(upserts, deletes, func(u index.TextChunk) uint64 { return u.ID }))
	added := counts{chunks: int64(len(rows))}
	for _, r := range rows {
		added.length += int64(r.length)
		if r.place == 0 {
			added.items++
		}
	}
	return x.apply(ctx, seq, gone, added, func(b *pgx.Batch) {
		for some := range slices.Chunk(rows, writeBatch) {
			b.Queue(insertWords, x.id,
				column(some, func(r row) int64 { return r.chunk }), column(some, func(r row) int64 { return r.item }),
				column(some, func(r row) int32 { return r.place }), column(some, func(r row) int32 { return r.chunks }),
				column(some, func(r row) int32 { return r.length }), column(some, func(r row) int32 { return r.itemLength }),
				column(some, func(r row) string { return r.wordVector }), column(some, func(r row) string { return r.gramText }))
		}
	})
}

func column[T any](rows []row, of func(row) T) []T {
	list := make([]T, len(rows))
	for i, r := range rows {
		list[i] = of(r)
	}
	return list
}

// Search implements [index.KeywordIndex]. Nothing is corrected.
func (x *keywordIndex) Search(ctx context.Context, q index.KeywordQuery) (res index.KeywordResult, err error) {
	if x.closed.Load() {
		return res, index.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	if err := q.Params.Validate(); err != nil {
		return res, fmt.Errorf("search in PostgreSQL: %w", err)
	}
	s := scorer{params: q.Params.WithDefaults(), features: featuresOf(&q)}
	if q.Groups != nil {
		res.Groups = make([]float64, len(q.Groups.Sizes))
	}
	if len(s.features) == 0 {
		return res, nil
	}
	state := x.check(ctx)
	if state != nil && !errors.Is(state, index.ErrBehind) {
		return index.KeywordResult{}, state
	}
	if x.chunks.Load() == 0 {
		s.prepare()
		res.Max = s.max
		return res, state
	}
	if len(q.Only) > maxOnly {
		q.Only = nil // Accept suffices
	}
	err = x.do(ctx, searchTime, func(ctx context.Context) error {
		if err := x.countFeatures(ctx, s.features); err != nil {
			return err
		}
		s.features = shortened(s.features, x.chunks.Load())
		most := x.candidatesUpTo
		if q.Only != nil {
			most = math.MaxInt / 4 // all features choose among these few chunks
		}
		for ; ; most *= 4 {
			chosen, all := choose(s.features, most, x.chunks.Load())
			if err := x.candidates(ctx, &s, chosen, q.Only, min(4*most, maxCandidates)); err != nil {
				return err
			}
			if all || most >= maxCandidates || s.accepted(q.Accept) >= q.K {
				break
			}
		}
		res.Max, res.Groups = s.max, s.groups(q.Groups)
		if err := x.rank(ctx, &s, &q); err != nil {
			return err
		}
		res.Hits = s.best(q.K, q.Accept)
		return nil
	})
	if err != nil {
		return index.KeywordResult{}, err
	}
	return res, state
}

// counting counts the chunks and items that have a feature, up to 5,000. Above, the server's statistics say how many have it, so that
// common features are never counted.
const counting = `
WITH common AS MATERIALIZED (
  SELECT e.lexeme, e.share * t.reltuples AS chunks
  FROM pg_stats s JOIN pg_class t ON t.oid = to_regclass(quote_ident($5) || '.words'),
    unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) e(lexeme, share)
  WHERE s.schemaname = $5 AND s.tablename = 'words' AND e.share * t.reltuples > 5000 AND starts_with(e.lexeme, $4::int || ':')
)
SELECT coalesce(common.chunks::bigint, n.chunks), coalesce((common.chunks * c.items / greatest(c.chunks, 1))::bigint, n.items)
FROM unnest($1::text[]::tsquery[], $2::bool[], $3::text[]) WITH ORDINALITY q(lexeme, is_gram, term, at)
JOIN collections c ON c.id = $4
LEFT JOIN common ON common.lexeme = $4::int || ':' || q.term
LEFT JOIN LATERAL (
  SELECT count(*) AS chunks, count(DISTINCT item) AS items FROM (
    SELECT item FROM words WHERE NOT q.is_gram AND words @@ q.lexeme
    UNION ALL SELECT item FROM words WHERE q.is_gram AND grams @@ q.lexeme LIMIT 5000
  ) w
) n ON common.lexeme IS NULL
ORDER BY at`

// countFeatures sets in how many chunks and items each feature is.
func (x *keywordIndex) countFeatures(ctx context.Context, features []feature) error {
	texts := make([]string, len(features))
	for i, f := range features {
		texts[i] = f.Text
	}
	found, err := x.freqs.Of(texts, x.chunks.Load(), func(lacking []string) ([]frequency, error) {
		lexemes := make([]string, len(lacking))
		isGram := make([]bool, len(lacking))
		for i, t := range lacking {
			lexemes[i], isGram[i] = x.lexeme(t), analysis.KindOf(t) == analysis.Gram
		}
		rows, _ := x.pool.Query(ctx, counting, lexemes, isGram, lacking, x.id, x.schema)
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[frequency])
		if err == nil && len(list) == 0 {
			err = errTaken
		}
		return list, err
	})
	for i := range found {
		features[i].frequency = found[i]
	}
	return err
}

// Holding implements [index.KeywordIndex]. It fails if more than [maxHolding] chunks have the terms.
func (x *keywordIndex) Holding(ctx context.Context, terms []string) (ids []uint64, err error) {
	if x.closed.Load() {
		return nil, index.ErrClosed
	}
	var wanted [2][]string
	for _, t := range terms {
		if !storable(t) {
			return nil, nil
		}
		i := 0
		if analysis.KindOf(t) == analysis.Gram {
			i = 1
		}
		wanted[i] = append(wanted[i], x.lexeme(t))
	}
	if err := x.check(ctx); err != nil {
		return nil, err
	}
	err = x.do(ctx, searchTime, func(ctx context.Context) error {
		rows, _ := x.pool.Query(ctx, `SELECT chunk FROM words
WHERE collection = $1 AND ($2 = '' OR words @@ $2::tsquery) AND ($3 = '' OR grams @@ $3::tsquery)
ORDER BY chunk LIMIT $4`, x.id, strings.Join(wanted[0], " & "), strings.Join(wanted[1], " & "), maxHolding)
		keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, k := range keys {
			ids = append(ids, chunkOf(k))
		}
		return err
	})
	if err == nil && len(ids) == maxHolding {
		err = fmt.Errorf("%w: pgvector: %d chunks or more have the words", ragctx.ErrUnavailable, maxHolding)
	}
	return ids, err
}

// Words implements [index.KeywordIndex]. The server does not list words, so a pattern has none.
func (x *keywordIndex) Words(context.Context, analysis.Pattern, int) ([]string, error) {
	if x.closed.Load() {
		return nil, index.ErrClosed
	}
	return nil, nil
}
