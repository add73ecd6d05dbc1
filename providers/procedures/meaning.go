package procedures

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/lru"
)

// A procedure is meant by a question if the cosine of both is at least leastCosine, and not more than
// cosineGap below that of another procedure. Set on testdata/procedures.txt.
const (
	leastCosine = 0.35
	cosineGap   = 0.08
)

// Bounds of the vectors that are kept.
const (
	maxMeanings     = 4096
	maxMeaningBytes = 8 << 20
)

// meanings compares procedures with questions that have other words. It is safe for concurrent use.
type meanings struct {
	load func() embed.Embedder

	mu   sync.Mutex
	kept *lru.Cache[string, []float32] // by the text of a procedure
}

func newMeanings(load func() embed.Embedder) *meanings {
	return &meanings{load: load, kept: lru.New[string, []float32](maxMeanings, maxMeaningBytes)}
}

// asksForFact reports whether a question asks for a fact. It is near the procedure for the same thing, and nobody
// asks for it to be done: "when does the certificate expire?"
func asksForFact(question string) bool {
	return factQuestion.MatchString(strings.ToLower(strings.TrimLeft(question, " \t\n¿¡\"'")))
}

var factQuestion = regexp.MustCompile(`^(?:what|what's|who|who's|whose|when|where|which|is|are|was|were|does|did|has|have|` +
	`how (?:long|big|many|much|often|old|far|large)|explain|describe|tell me|show me|list|` +
	`wer|was|wann|wo|welche[rsnm]?|wie|ist|sind|hat|hatte|` +
	`qui|que|quand|où|quel(?:le)?s?|combien|est-ce|quién|qué|cuándo|dónde|cuál(?:es)?|cuánt[oa]s?)(?:[\s'?]|$)`)

// cosines returns the cosine of each procedure and a question that may ask for it, or 0.
func (m *meanings) cosines(ctx context.Context, list []*PublishedProcedure, question string) ([]float64, error) {
	out := make([]float64, len(list))
	if len(list) == 0 || asksForFact(question) {
		return out, nil
	}
	asked, err := m.load().EmbedQuery(ctx, question)
	if err != nil || asked == nil {
		return out, err
	}
	vectors, err := m.vectors(ctx, list)
	if err != nil {
		return nil, err
	}
	best := 0.0
	for i, v := range vectors {
		if v != nil {
			out[i] = embed.Cosine(asked, v)
			best = max(best, out[i])
		}
	}
	for i, c := range out {
		if c < leastCosine || c < best-cosineGap {
			out[i] = 0
		}
	}
	return out, nil
}

// vectors returns the vectors of procedures. It embeds those that are not kept.
func (m *meanings) vectors(ctx context.Context, list []*PublishedProcedure) ([][]float32, error) {
	out := make([][]float32, len(list))
	var texts []string
	var at []int
	m.mu.Lock()
	for i, s := range list {
		var ok bool
		if out[i], ok = m.kept.Get(s.says); !ok {
			texts, at = append(texts, s.says), append(at, i)
		}
	}
	m.mu.Unlock()
	if len(texts) == 0 {
		return out, nil
	}
	made, err := m.load().EmbedDocuments(ctx, texts)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, i := range at {
		out[i] = made[k]
		m.kept.Put(texts[k], made[k], len(texts[k])+4*len(made[k]))
	}
	return out, nil
}

// forget removes all vectors, after an erasure.
func (m *meanings) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept.Clear()
}
