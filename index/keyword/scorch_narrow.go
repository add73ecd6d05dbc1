package keyword

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// among implements [segment].
func (s *storedSegment) among(q subsetLookup, to []posting) ([]posting, docFreq, error) {
	if n, ok := q.of.freqs.get(q.term); len(q.chunks) == 0 && (ok || !q.counted) {
		return to, n, nil
	}
	r, err := s.reader()
	if err != nil {
		return to, docFreq{}, err
	}
	first := len(to)
	var n docFreq
	for times := range q.maxTf {
		if r.list, err = r.dict.PostingsList(r.keyOf(q.term, times), nil, r.list); err != nil {
			return to, n, err
		}
		var found []uint32
		if times > 0 {
			found, err = s.found(r, q)
			increment(found, to[first:])
		} else {
			n, found, err = s.counted(r, q)
			to = s.appendPostings(found, nil, to)
		}
		if err != nil {
			return to, n, err
		}
		if len(found) == 0 {
			break // no chunk has more occurrences
		}
	}
	s.readers.Put(r)
	return to, n, nil
}

// counted returns the document frequency of r's list, if requested, and the requested chunks in it.
func (s *storedSegment) counted(r *termReader, q subsetLookup) (n docFreq, found []uint32, err error) {
	if r.list.Count() == 0 {
		return n, nil, nil
	}
	if q.counted {
		var ok bool
		if n, ok = q.of.freqs.get(q.term); !ok {
			if n, err = s.count(r, q); err != nil {
				return n, nil, err
			}
			q.of.freqs.put(q.term, n)
		}
	}
	found, err = s.found(r, q)
	return n, found, err
}

// count counts the chunks and items in r's list.
func (s *storedSegment) count(r *termReader, q subsetLookup) (docFreq, error) {
	if q.of.dead == nil {
		return s.countAll(r, q)
	}
	if r.list.Count() >= minCachedChunks {
		if gone, ok := q.of.deadSet.of(q.of); ok {
			return s.countWithout(r, q, gone)
		}
	}
	return s.scan(r, q, q.of.dead)
}

// countAll includes dead chunks, so that the count stays valid.
func (s *storedSegment) countAll(r *termReader, q subsetLookup) (n docFreq, err error) {
	if len(s.cols.items) == s.cols.chunks() { // one chunk an item
		listed := int(r.list.Count()) //nolint:gosec // at most 2³²
		return docFreq{listed, listed}, nil
	}
	n, ok := s.allFreqs.get(q.term)
	if !ok {
		if n, err = s.scan(r, q, nil); err == nil {
			s.allFreqs.put(q.term, n)
		}
	}
	return n, err
}

// countWithout subtracts the dead chunks; their items have no live chunks.
func (s *storedSegment) countWithout(r *termReader, q subsetLookup, gone *roaring.Bitmap) (docFreq, error) {
	n, err := s.countAll(r, q)
	if err != nil {
		return n, err
	}
	_, list, err := r.bitmap()
	if err != nil || list == nil {
		return n, err
	}
	r.nums = r.nums[:0]
	r.read(roaring.And(gone, list))
	lost := countDocs(r.nums, s.owners(), len(s.cols.items), nil, q.seen)
	return docFreq{n.chunks - lost.chunks, n.texts - lost.texts}, nil
}

// scan counts by reading r's list.
func (s *storedSegment) scan(r *termReader, q subsetLookup, dead bitset) (docFreq, error) {
	chunks, err := s.listed(r)
	if err != nil {
		return docFreq{}, err
	}
	return countDocs(chunks, s.owners(), len(s.cols.items), dead, q.seen), nil
}

// readAllRatio is the ratio of a list's length to the subset's up to which reading the whole list
// is faster than an intersection.
const readAllRatio = 4

// found returns the requested chunks that are in r's list. The slice is valid until the next use of
// r.
func (s *storedSegment) found(r *termReader, q subsetLookup) ([]uint32, error) {
	only, b, err := r.bitmap()
	if err != nil {
		return nil, err
	}
	r.nums = r.nums[:0]
	switch {
	case b == nil:
		if only >= 0 && q.set.Contains(uint32(only)) {
			r.nums = append(r.nums, uint32(only))
		}
	case q.in != nil && r.list.Count() <= uint64(readAllRatio*len(q.chunks)):
		r.read(b)
		r.nums = q.in.intersect(r.nums)
	default:
		r.read(roaring.And(q.set, b))
	}
	return r.nums, nil
}
