package keyword

import "slices"

// A search among few chunks, such as the chunks of one user among many, does not read whole lists:
// it looks the chunks up in them. It scores a view of these chunks only. Document frequencies still
// cover all chunks and are cached for each part.

// subset is some of the live chunks of a part. It contains each item completely or not at all.
type subset struct {
	of     part
	chunks []uint32 // chunk numbers, ascending
}

// narrowed is a subset in the form of a segment, with its chunks renumbered.
type narrowed struct {
	segment // of the part; only columns may be called

	cols columns
}

func (s *narrowed) columns() *columns { return &s.cols }

// narrow returns a view of the live chunks among the given ids. It has the statistics of v and no
// references.
func (v *view) narrow(ids []uint64) (*view, error) {
	n := &view{
		subsets: make([]subset, 0, len(v.parts)), firsts: make([]int, 1), firstTexts: make([]int, 1),
		live: v.live, texts: v.texts, length: v.length,
	}
	for i, p := range v.parts {
		chunks, err := p.locate(ids, nil)
		if err != nil {
			return nil, err
		}
		chunks = slices.DeleteFunc(chunks, p.dead.has)
		slices.Sort(chunks)
		rows := make([]row, len(chunks))
		for i, chunk := range chunks {
			rows[i] = p.columns().row(chunk)
			rows[i].chunk = uint32(i)
		}
		s := &narrowed{segment: p.segment, cols: arrange(rows)}
		n.subsets = append(n.subsets, subset{of: p, chunks: chunks})
		n.parts = append(n.parts, part{segment: s})
		n.firsts = append(n.firsts, n.firsts[i]+len(chunks))
		n.firstTexts = append(n.firstTexts, n.firstTexts[i]+len(s.cols.items))
	}
	return n, nil
}

// renumber converts chunk numbers of the part to numbers of the narrowed segment.
func (s *subset) renumber(list []posting) {
	at := 0
	for i, e := range list {
		for s.chunks[at] < e.chunk {
			at++
		}
		list[i].chunk = uint32(at) //nolint:gosec // below 2³²
	}
}

// subsetLookup asks a segment for a term in some of its chunks.
type subsetLookup struct {
	lookup
	subset

	counted bool    // whether to return the document frequency
	seen    *bitset // scratch memory, empty before and after
}

// gatherSubsets is gather for the subsets. Unless limit is uncounted, it counts in all chunks.
func (s *scratch) gatherSubsets(term string, most uint32, limit int, renumber bool) (counts bool, err error) {
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	counts, s.docFreq, err = s.subsetReader.gather(s.subsets, term, most, limit)
	if counts && renumber {
		for i, sub := range s.subsets {
			sub.renumber(of(s.postings, s.ends, i))
		}
	}
	return counts, err
}

// among implements [segment].
func (s *memorySegment) among(q subsetLookup, to []posting) ([]posting, docFreq, error) {
	i, ok := s.terms[q.term]
	if !ok {
		return to, docFreq{}, nil
	}
	at := 0
	for _, e := range s.lists[i] {
		for at < len(q.chunks) && q.chunks[at] < e.chunk {
			at++
		}
		if at < len(q.chunks) && q.chunks[at] == e.chunk {
			to = append(to, e)
		}
	}
	if !q.counted {
		return to, docFreq{}, nil
	}
	n, ok := q.of.freqs.get(q.term)
	if !ok {
		chunks := make([]uint32, len(s.lists[i]))
		for n, e := range s.lists[i] {
			chunks[n] = e.chunk
		}
		n = countDocs(chunks, s.owners(), len(s.cols.items), q.of.dead, q.seen)
		q.of.freqs.put(q.term, n)
	}
	return to, n, nil
}
