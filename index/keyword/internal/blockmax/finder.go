package blockmax

import "iter"

// Finder looks up texts in a list, in ascending order.
type Finder struct {
	list   List
	block  block
	number int // of the decoded block, -1 before the first
	at     int // in it
}

// Start points the finder at a list. Starting with the zero List releases the previous one.
func (f *Finder) Start(l List) {
	f.list, f.number, f.at = l, -1, 0
	f.block.release()
}

// Seek reports whether a text contains the word. Texts must be sought in ascending order.
func (f *Finder) Seek(text uint32) bool {
	number, blocks := max(f.number, 0), f.list.blocks()
	for number < blocks-1 && f.list.last(number) < text {
		number++
	}
	if number != f.number {
		f.block.read(&f.list, number)
		f.number, f.at = number, 0
	}
	f.at = skip(f.block.texts, f.at, text)
	return f.at < len(f.block.texts) && f.block.texts[f.at] == text
}

// Frequency returns the number of occurrences of the word in the text.
func (f *Finder) Frequency() uint32 { return f.block.frequency(f.at) }

// Opens reports whether the word is in the opening of the text.
func (f *Finder) Opens() bool { return f.block.opensText(f.at) }

// Postings appends the postings of the text's chunks. Their places are relative to the text.
func (f *Finder) Postings(to []Posting) []Posting {
	n := f.block.chunkCount(f.at)
	if n == 0 {
		return append(to, Posting{0, f.Frequency()})
	}
	for i := range n {
		place, tf := f.block.chunk(f.at, i)
		to = append(to, Posting{place, tf})
	}
	return to
}

// skip returns the first index at or after from with a number of at least text.
func skip(texts []uint32, from int, text uint32) int {
	for from+8 < len(texts) && texts[from+8] < text {
		from += 8
	}
	for from < len(texts) && texts[from] < text {
		from++
	}
	return from
}

// All yields the texts of a list, ascending, each with the number of its chunks that contain the
// word.
func (l *List) All() iter.Seq2[uint32, uint32] {
	return func(yield func(text, chunks uint32) bool) {
		var b block
		for number := range l.blocks() {
			b.read(l, number)
			for i, text := range b.texts {
				if !yield(text, max(b.chunkCount(i), 1)) {
					return
				}
			}
		}
	}
}
