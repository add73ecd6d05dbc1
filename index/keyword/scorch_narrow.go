package keyword

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// among implements [segment].
func (s *storedSegment) among(q among, to []posting) ([]posting, spread, error) {
	if n, ok := q.of.known.get(q.term); len(q.chunks) == 0 && (ok || !q.counted) {
		return to, n, nil
	}
	r, err := s.reader()
	if err != nil {
		return to, spread{}, err
	}
	first := len(to)
	var n spread
	for times := range q.most {
		if r.list, err = r.dict.PostingsList(r.keyOf(q.term, times), nil, r.list); err != nil {
			return to, n, err
		}
		var found []uint32
		if times > 0 {
			found, err = s.found(r, q)
			again(found, to[first:])
		} else {
			n, found, err = s.counted(r, q)
			to = s.begin(found, nil, to)
		}
		if err != nil {
			return to, n, err
		}
		if len(found) == 0 {
			break // no chunk has it more often
		}
	}
	s.readers.Put(r)
	return to, n, nil
}

// counted returns the document frequency of r's list, if requested, and the requested chunks in it.
func (s *storedSegment) counted(r *termReader, q among) (n spread, found []uint32, err error) {
	if r.list.Count() == 0 {
		return n, nil, nil
	}
	if q.counted {
		var ok bool
		if n, ok = q.of.known.get(q.term); !ok {
			if n, err = s.count(r, q); err != nil {
				return n, nil, err
			}
			q.of.known.put(q.term, n)
		}
	}
	found, err = s.found(r, q)
	return n, found, err
}

// count counts the chunks and parents in r's list.
func (s *storedSegment) count(r *termReader, q among) (spread, error) {
	if q.of.dead == nil {
		return s.countAll(r, q)
	}
	if r.list.Count() >= minCachedChunks {
		if gone, ok := q.of.gone.of(q.of); ok {
			return s.countWithout(r, q, gone)
		}
	}
	return s.spread(r, q, q.of.dead)
}

// countAll includes dead chunks, so that the count stays valid.
func (s *storedSegment) countAll(r *termReader, q among) (n spread, err error) {
	if len(s.cols.parents) == s.cols.chunks() { // one chunk a parent
		listed := int(r.list.Count()) //nolint:gosec // at most 2³²
		return spread{listed, listed}, nil
	}
	n, ok := s.all.get(q.term)
	if !ok {
		if n, err = s.spread(r, q, nil); err == nil {
			s.all.put(q.term, n)
		}
	}
	return n, err
}

// countWithout subtracts the dead chunks, whose parents are all dead as a whole.
func (s *storedSegment) countWithout(r *termReader, q among, gone *roaring.Bitmap) (spread, error) {
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
	lost := spreadOf(r.nums, s.owners(), len(s.cols.parents), nil, q.seen)
	return spread{n.chunks - lost.chunks, n.texts - lost.texts}, nil
}

// scan counts by reading r's list.
func (s *storedSegment) spread(r *termReader, q among, dead bitset) (spread, error) {
	chunks, err := s.listed(r)
	if err != nil {
		return spread{}, err
	}
	return spreadOf(chunks, s.owners(), len(s.cols.parents), dead, q.seen), nil
}

// readAllRatio is the ratio of a list's length to the subset's up to which reading the whole list
// is faster than an intersection.
const alike = 4

// found returns the requested chunks that are in r's list. The slice is valid until the next use of
// r.
func (s *storedSegment) found(r *termReader, q among) ([]uint32, error) {
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
	case q.in != nil && r.list.Count() <= uint64(alike*len(q.chunks)):
		r.read(b)
		r.nums = q.in.those(r.nums)
	default:
		r.read(roaring.And(q.set, b))
	}
	return r.nums, nil
}
