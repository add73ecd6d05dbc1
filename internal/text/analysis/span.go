package analysis

import (
	"sort"

	"golang.org/x/text/unicode/norm"
)

// Spans calls emit for every term of text, as [Each] does, with the byte range that the term comes
// from, end excluded. Parts of a compound lie within its span, and pairs of characters overlap. The
// slice is valid only during the call.
func Spans(text string, emit func(term []byte, start, end int)) {
	t := tokenizer{spans: true}
	t.emit = func(term []byte) { emit(term, t.start, t.end) }
	t.scan(text)
}

// movement maps offsets in a normalised run to offsets in the original. It lists the end offsets of
// each separately normalised segment, before and after normalisation.
type movement struct{ before, after []int }

func movementOf(run string) *movement {
	var (
		m  movement
		it norm.Iter
		n  int
	)
	for it.InitString(norm.NFKC, run); !it.Done(); {
		from := it.Pos()
		n += len(it.Next())
		if it.Pos() == from && !it.Done() {
			continue // one character that becomes several segments (Thai sara am) ends with the last
		}
		m.before, m.after = append(m.before, it.Pos()), append(m.after, n)
	}
	return &m
}

// back returns the original bytes of the normalised bytes from start to end. The range is not
// empty, end excluded. A nil movement is the identity.
func (m *movement) back(start, end int) (from, to int) {
	if m == nil {
		return start, end
	}
	first := sort.SearchInts(m.after, start+1)
	last := sort.SearchInts(m.after, end)
	if first > 0 {
		from = m.before[first-1]
	}
	return from, m.before[min(last, len(m.before)-1)]
}
