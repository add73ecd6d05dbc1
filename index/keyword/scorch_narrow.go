package keyword

import (
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
)

// among implements [segment].
func (s *storedSegment) among(q among, to []posting) ([]posting, spread, error) {
	if n, ok := q.of.known.get(q.term); len(q.units) == 0 && (ok || !q.counted) {
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
			break // nothing has it more often
		}
	}
	s.readers.Put(r)
	return to, n, nil
}

// counted counts what is in r's list, unless that is known or not asked for, and
// returns those of the units that are looked for.
func (s *storedSegment) counted(r *termReader, q among) (n spread, found []uint32, err error) {
	listed := int(r.list.Count()) //nolint:gosec // at most 2³²
	if listed == 0 {
		return n, nil, nil
	}
	single := q.of.dead == nil && len(s.cols.parents) == s.cols.units() // unit of each parent
	n, ok := q.of.known.get(q.term)
	switch {
	case ok || !q.counted:
	case single:
		n = spread{listed, listed}
	default:
		units, err := s.listed(r)
		if err != nil {
			return n, nil, err
		}
		n = spreadOf(units, s.owners(), len(s.cols.parents), q.of.dead, q.seen)
		q.of.known.put(q.term, n)
	}
	found, err = s.found(r, q)
	return n, found, err
}

// alike is how many times more units a list has than are looked for, at most, where
// reading it all is faster than an intersection.
const alike = 4

// found returns those of the units that are looked for that are in r's list, until
// the next use of r.
func (s *storedSegment) found(r *termReader, q among) ([]uint32, error) {
	r.iter = r.list.Iterator(false, false, false, r.iter)
	bits, ok := r.iter.(scorchsegment.OptimizablePostingsIterator)
	if !ok {
		return nil, fmt.Errorf("postings are a %T", r.iter)
	}
	r.nums = r.nums[:0]
	b := bits.ActualBitmap()
	if unit, ok := bits.DocNum1Hit(); ok && unit <= math.MaxUint32 && q.set.Contains(uint32(unit)) {
		r.nums = append(r.nums, uint32(unit))
	} else if b != nil && q.in != nil && r.list.Count() <= uint64(alike*len(q.units)) {
		r.read(b)
		r.nums = q.in.those(r.nums)
	} else if b != nil {
		r.read(roaring.And(q.set, b))
	}
	return r.nums, nil
}
