package procedures

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

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

	mu         sync.Mutex
	kept       *lru.Cache[string, []float32] // by the text of a procedure
	generation uint64                        // rises with each erasure
}

func newMeanings(load func() embed.Embedder) *meanings {
	return &meanings{load: load, kept: lru.New[string, []float32](maxMeanings, maxMeaningBytes)}
}

// asksForFact reports whether a question asks for a fact. It is near the procedure for the same thing, and nobody
// asks for it to be done: "when does the certificate expire?"
func asksForFact(question string) bool {
	question = strings.ToLower(strings.TrimLeft(question, " \t\n¿¡\"'"))
	return factQuestion.MatchString(question) && !howTo.MatchString(question)
}

// howTo finds questions for the way to do something among them.
var howTo = regexp.MustCompile(`^(?:what (?:do|should|must|can) (?:i|we)|what (?:are the )?steps|which steps|is it time to|` +
	`was (?:muss|soll|kann) (?:ich|man)|was (?:müssen|sollen|können) wir|` +
	`que (?:faire|dois-je|faut-il)|qué (?:hago|hacemos|debo|hay que))\b`)

var factQuestion = regexp.MustCompile(`^(?:what|what's|who|who's|whose|when|where|which|is|are|was|were|does|did|has|have|` +
	`how (?:long|big|many|much|often|old|far|large)|explain|describe|tell me|show me|list|` +
	`wer|was|wann|wo|welche[rsnm]?|wie (?:lange|oft|viele?|groß|gross|alt|weit|hoch|ist|sind|war|heißt|heisst)|ist|sind|hat|hatte|` +
	`qui|que|quand|où|quel(?:le)?s?|combien|est-ce|quién|qué|cuándo|dónde|cuál(?:es)?|cuánt[oa]s?)(?:[\s'?]|$)`)

// patience is how long a query waits for vectors. Words alone find most procedures, and finished vectors are kept.
const patience = 500 * time.Millisecond

// cosines returns the cosine of each procedure and a question that may ask for it, or 0. It returns false if
// it could not make all vectors in time.
func (m *meanings) cosines(ctx context.Context, list []*PublishedProcedure, question string) (out []float64, whole bool) {
	out = make([]float64, len(list))
	if len(list) == 0 || asksForFact(question) {
		return out, true
	}
	embedder := m.load() // which happens once
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	asked, err := embedder.EmbedQuery(ctx, question)
	if err != nil || asked == nil {
		return out, err == nil
	}
	vectors, err := m.vectors(ctx, list)
	if err != nil {
		return out, false
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
	return out, true
}

// vectors returns the vectors of procedures. It embeds those that are not kept.
func (m *meanings) vectors(ctx context.Context, list []*PublishedProcedure) ([][]float32, error) {
	out := make([][]float32, len(list))
	var texts []string
	var at []int
	m.mu.Lock()
	generation := m.generation
	for i, s := range list {
		var ok bool
		if out[i], ok = m.kept.Get(s.says); !ok {
			texts, at = append(texts, s.says), append(at, i)
		}
	}
	m.mu.Unlock()
	for len(texts) > 0 { // a few at a time, so that a query that runs out of time leaves some to later ones
		n := min(len(texts), meaningBatch)
		made, err := m.load().EmbedDocuments(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		m.mu.Lock()
		for k, v := range made {
			out[at[k]] = v
			if generation == m.generation {
				m.kept.Put(texts[k], v, len(texts[k])+4*len(v))
			}
		}
		m.mu.Unlock()
		texts, at = texts[n:], at[n:]
	}
	return out, nil
}

// meaningBatch is the number of procedures that are embedded at a time.
const meaningBatch = 16

// forget removes all vectors, after an erasure.
func (m *meanings) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept.Clear()
	m.generation++
}
