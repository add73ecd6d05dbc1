package analysis

import (
	"sort"

	"golang.org/x/text/unicode/norm"
)

// Spans calls emit for every term of text, as [Each] does, with the bytes of the text
// that it was made of: start to end, end excluded. Parts of a compound lie within its
// span, and pairs of characters overlap. The slice is valid only during the call.
func Spans(text string, emit func(term []byte, start, end int)) {
	t := tokenizer{spans: true}
	t.emit = func(term []byte) { emit(term, t.start, t.end) }
	t.scan(text)
}

// movement says where the characters of a normalised run were before: for each piece
// that was normalised by itself, where it ends before and after.
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
			continue // one character that becomes several pieces (Thai sara am) ends with the last
		}
		m.before, m.after = append(m.before, it.Pos()), append(m.after, n)
	}
	return &m
}

// back returns the bytes that those from start to end were made of, end excluded and
// after start. A nil movement moves nothing.
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
