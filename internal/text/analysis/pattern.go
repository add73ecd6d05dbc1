package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of patterns. Of a query with more patterns the first count; one of more than
// [MaxPatternQuery] bytes quotes rather than searches, and has none.
const (
	MaxPatterns     = 8
	MinPatternRunes = 3
	MaxPatternQuery = 512
)

// PatternKind says which words a [Pattern] stands for.
type PatternKind uint8

const (
	// Prefix stands for words that begin with the text.
	Prefix PatternKind = iota
	// Near stands for words that one edit makes of the text: a character put in, left
	// out or replaced by another, or two neighbours that change places.
	Near
)

// Pattern stands for words of a collection.
type Pattern struct {
	Kind PatternKind
	// Text is folded as terms are. That of [Near] is stemmed, as are the words that it is
	// compared with; what words begin with is not.
	Text string
}

// The marks of patterns.
const (
	prefixMark = '*'
	nearMark   = '~'
)

// Patterns returns the distinct patterns of a query, in order: words of at least
// [MinPatternRunes] characters with a mark right behind them, storm* for [Prefix] and
// storm~ for [Near]. Behind the mark is a space, or punctuation and a space; before the
// word is no mark, so that *emphasis* and paths stay what they are. Of a compound the
// whole is meant.
func Patterns(query string) (patterns []Pattern) {
	if len(query) > MaxPatternQuery || !strings.ContainsRune(query, prefixMark) && !strings.ContainsRune(query, nearMark) {
		return nil
	}
	var (
		taken int // the word before this place has its pattern
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

// marked reports whether the word of a query from start to end has the mark of a pattern
// behind it and none before it.
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

// Stop reports whether a term, as [Each] gives it, is a stop word.
func Stop(term string) bool { return isStop([]byte(term)) }
