package keyword

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
)

// seldom is how many times more units a list has than are looked for, at least,
// where looking for each of them is faster than reading the list.
const seldom = 8

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
// returns the places of the units that are looked for.
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
		return n, joined(units, q.units), nil
	}
	found, err = s.found(r, q)
	return n, found, err
}

// found returns the places among the units that are looked for of those in r's list,
// until the next use of r.
func (s *storedSegment) found(r *termReader, q among) (places []uint32, err error) {
	if r.list.Count() < uint64(seldom*len(q.units)) {
		stored, err := s.listed(r)
		return joined(stored, q.units), err
	}
	r.iter = r.list.Iterator(false, false, false, r.iter)
	bits, ok := r.iter.(scorchsegment.OptimizablePostingsIterator)
	if !ok {
		return nil, fmt.Errorf("postings are a %T", r.iter)
	}
	r.nums = r.nums[:0]
	if b := bits.ActualBitmap(); b != nil { // more than one unit has it
		r.read(roaring.And(q.set, b))
	}
	return joined(r.nums, q.units), nil
}

// joined returns the places among units of those that are stored, in whose memory.
// Both are ascending.
func joined(stored, units []uint32) (places []uint32) {
	n, at := 0, 0
	for _, unit := range stored {
		for at < len(units) && units[at] < unit {
			at++
		}
		if at == len(units) {
			break
		}
		if units[at] == unit {
			stored[n] = uint32(at) // never beyond what was read
			n++
		}
	}
	return stored[:n]
}
