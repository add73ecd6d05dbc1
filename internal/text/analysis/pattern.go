package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of patterns. If a query has more patterns, only the first ones count. A query of more than
// [MaxPatternQuery] bytes is taken as a quotation and has no patterns.
const (
	MaxPatterns     = 8
	MinPatternRunes = 3
	MaxPatternQuery = 512
)

// PatternKind is the kind of a [Pattern].
type PatternKind uint8

const (
	// Prefix matches words that begin with the text.
	Prefix PatternKind = iota
	// Near matches words within one edit of the text: a character inserted, deleted or replaced, or
	// two neighbours swapped.
	Near
)

// Pattern matches words of a collection.
type Pattern struct {
	Kind PatternKind
	// Text is folded as terms are. The text of [Near] is also stemmed, like the words that it is
	// compared with; the text of [Prefix] is not.
	Text string
}

// The marks of patterns.
const (
	prefixMark = '*'
	nearMark   = '~'
)

// Patterns returns the distinct patterns of a query, in order. A pattern is a word of at least
// [MinPatternRunes] characters followed by a mark: storm* for [Prefix], storm~ for [Near]. The mark
// must be followed by a space, by punctuation and a space, or by the end of the query. A word with
// a mark before it is no pattern, so *emphasis* and paths are left alone. In a compound, the mark
// applies to the whole.
func Patterns(query string) (patterns []Pattern) {
	if len(query) > MaxPatternQuery || !strings.ContainsRune(query, prefixMark) && !strings.ContainsRune(query, nearMark) {
		return nil
	}
	var (
		taken int // words that end at or before this offset are done
		plain []byte
	)
	t := tokenizer{}
	take := func(term []byte, written []byte) {
		if t.end <= taken || !marked(query, t.start, t.end) {
			return
		}
		taken = t.end
		p := Pattern{Kind: Prefix, Text: string(written)}
		if query[t.end] == nearMark {
			p = Pattern{Kind: Near, Text: string(term)}
		}
		if utf8.RuneCount(written) >= MinPatternRunes && len(patterns) < MaxPatterns && !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	t.plain = func(word []byte) { plain = append(plain[:0], word...) }
	t.emit = func(term []byte) {
		if len(plain) == 0 {
			plain = append(plain, term...) // a compound
		}
		cut, _ := truncate(plain)
		take(term, cut)
		plain = plain[:0]
	}
	t.scan(query)
	return patterns
}

// marked reports whether the word query[start:end] has a pattern mark after it and none before it.
func marked(query string, start, end int) bool {
	if end >= len(query) || query[end] != prefixMark && query[end] != nearMark {
		return false
	}
	if before, _ := utf8.DecodeLastRuneInString(query[:start]); before == prefixMark || before == nearMark {
		return false
	}
	after, size := decode(strings.TrimLeftFunc(query[end+1:min(len(query), end+1+maxClosing)], closesSentence))
	return size == 0 || unicode.IsSpace(after)
}

// Stop reports whether a term, as [Each] emits it, is a stop word.
func Stop(term string) bool { return isStop([]byte(term)) }
