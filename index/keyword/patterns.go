package keyword

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/blevesearch/vellum/levenshtein"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// maxMatches is the maximum number of words of one segment that are read for a pattern, in byte
// order.
const maxMatches = 1 << 13

// automaton reads the bytes of a word. It has the methods of the automata of package vellum, which
// stores the words of segments.
type automaton interface {
	Start() int
	IsMatch(state int) bool
	CanMatch(state int) bool
	WillAlwaysMatch(state int) bool
	Accept(state int, b byte) int
}

// matcher matches words of a sorted list from from to before until that the automaton accepts. The
// automaton must only accept words: see [wholeWords].
type matcher struct {
	automaton   automaton
	from, until string
}

// afterUTF8 sorts after every valid text.
const afterUTF8 = "\xff"

// edits returns a builder of automata that accept words one edit away.
var edits = sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
	return levenshtein.NewLevenshteinAutomatonBuilder(1, true)
})

func matcherOf(p analysis.Pattern) (matcher, error) {
	if p.Kind == analysis.Prefix {
		return matcher{wholeWords{acceptAll{}}, max(p.Text, firstWord), p.Text + afterUTF8}, nil
	}
	builder, err := edits()
	if err != nil {
		return matcher{}, err
	}
	near, err := builder.BuildDfa(p.Text, 1)
	if err != nil {
		return matcher{}, err
	}
	return matcher{wholeWords{near}, firstWord, afterUTF8}, nil
}

// wholeWords rejects strings with a space or control character: pairs, and further occurrences of
// words.
type wholeWords struct{ automaton }

// dead is the state of vellum's automata that no transition leaves.
const dead = 0

func (w wholeWords) Accept(state int, b byte) int {
	if b <= pairSpace {
		return dead
	}
	return w.automaton.Accept(state, b)
}

// acceptAll is an automaton that accepts everything.
type acceptAll struct{}

func (acceptAll) Start() int               { return dead + 1 }
func (acceptAll) IsMatch(s int) bool       { return s != dead }
func (acceptAll) CanMatch(s int) bool      { return s != dead }
func (acceptAll) WillAlwaysMatch(int) bool { return false }
func (acceptAll) Accept(s int, _ byte) int { return s }

// accepts reports whether the automaton accepts a word.
func (m *matcher) accepts(word string) bool {
	state := m.automaton.Start()
	for i := 0; i < len(word) && m.automaton.CanMatch(state); i++ {
		state = m.automaton.Accept(state, word[i])
	}
	return m.automaton.IsMatch(state)
}

// Words implements [index.KeywordIndex].
func (ix *Index) Words(ctx context.Context, p analysis.Pattern, n int) ([]string, error) {
	v := ix.acquire()
	if v == nil {
		return nil, index.ErrClosed
	}
	defer v.release()
	m, err := matcherOf(p)
	if err != nil || n <= 0 {
		return nil, err
	}
	chunks := make(map[string]int) // number of live chunks that have the word
	for _, part := range v.parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := guard(func() error { return part.count(&m, chunks) }); err != nil {
			return nil, ix.damaged("look up words", err)
		}
	}
	maps.DeleteFunc(chunks, func(word string, live int) bool {
		return live == 0 || analysis.Stop(word) || p.Kind == analysis.Near && word == p.Text
	})
	words := slices.SortedFunc(maps.Keys(chunks), func(a, b string) int {
		return cmp.Or(cmp.Compare(chunks[b], chunks[a]), cmp.Compare(a, b))
	})
	return slices.Clip(words[:min(n, len(words))]), nil
}

// count adds to the number of live chunks for each matching word.
func (p part) count(m *matcher, to map[string]int) error {
	var list []posting
	return p.matches(m, func(word string, chunks int) (err error) {
		if p.dead != nil {
			if list, err = p.postings(lookup{term: word, maxTf: 1, limit: math.MaxInt}, p.dead, list[:0]); err != nil {
				return err
			}
			chunks = len(list)
		}
		to[word] += chunks
		return nil
	})
}

// errEnough stops reading matching words.
var errEnough = errors.New("keyword: enough words")

// matches calls fn for the matching words of a segment, in byte order, with the number of chunks
// that have them, dead ones included; see [maxMatches].
func (p part) matches(m *matcher, fn func(word string, chunks int) error) error {
	seen := 0
	err := p.match(m, func(word string, chunks int) error {
		if seen++; seen > maxMatches {
			return errEnough
		}
		return fn(word, chunks)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// sortedWords returns the terms that are words: no grams, openings or pairs.
func (s *memorySegment) sortedWords() []string {
	words := make([]string, 0, len(s.terms)/8)
	for term := range s.terms {
		if isWord(term) {
			words = append(words, term)
		}
	}
	slices.Sort(words)
	return words
}

// isWord reports whether a term is a word.
func isWord(term string) bool {
	for i := range len(term) {
		if term[i] <= pairSpace {
			return false
		}
	}
	return true
}

// match implements [segment].
func (s *memorySegment) match(m *matcher, fn func(word string, chunks int) error) error {
	all := s.vocabulary()
	first, _ := slices.BinarySearch(all, m.from)
	for _, word := range all[first:] {
		if word >= m.until {
			break
		}
		if !m.accepts(word) {
			continue
		}
		if err := fn(word, len(s.lists[s.terms[word]])); err != nil {
			return err
		}
	}
	return nil
}
