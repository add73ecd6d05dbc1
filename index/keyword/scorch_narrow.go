package keyword

import (
	"fmt"

	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
)

// seldom is how many times more units a list has than are looked for, at least,
// where looking for each of them is faster than reading the list.
const seldom = 8

// among implements [segment].
func (s *storedSegment) among(q lookup, units []uint32, to []posting) ([]posting, error) {
	if len(units) == 0 {
		return to, nil
	}
	r, err := s.reader()
	if err != nil {
		return to, err
	}
	first := len(to)
	for n := range q.most {
		found, err := s.found(r, r.keyOf(q.term, n), units)
		if err != nil {
			return to, err
		}
		if n > 0 {
			again(found, to[first:])
		} else {
			to = s.begin(found, nil, to)
		}
		if len(found) == 0 {
			break // nothing has it more often
		}
	}
	s.readers.Put(r)
	return to, nil
}

// found returns the places among units of those that are stored under a key, until
// the next use of r.
func (s *storedSegment) found(r *termReader, key []byte, units []uint32) (places []uint32, err error) {
	if r.list, err = r.dict.PostingsList(key, nil, r.list); err != nil {
		return nil, err
	}
	if r.list.Count() < uint64(seldom*len(units)) {
		return s.joined(r, units)
	}
	r.iter = r.list.Iterator(false, false, false, r.iter)
	bits, ok := r.iter.(scorchsegment.OptimizablePostingsIterator)
	if !ok {
		return nil, fmt.Errorf("postings are a %T", r.iter)
	}
	r.nums = r.nums[:0]
	if b := bits.ActualBitmap(); b != nil { // more than one unit has it
		for i, unit := range units {
			if b.Contains(unit) {
				r.nums = append(r.nums, uint32(i))
			}
		}
	}
	return r.nums, nil
}

// joined is found for a list that is read.
func (s *storedSegment) joined(r *termReader, units []uint32) (places []uint32, err error) {
	stored, err := s.listed(r)
	n, at := 0, 0
	for _, unit := range stored {
		for at < len(units) && units[at] < unit {
			at++
		}
		if at < len(units) && units[at] == unit {
			stored[n] = uint32(at) // never beyond what was read
			n++
		}
	}
	return stored[:n], err
}

// count implements [segment].
func (s *storedSegment) count(q lookup, dead bitset, seen *bitset) (spread, error) {
	r, err := s.reader()
	if err != nil {
		return spread{}, err
	}
	if r.list, err = r.dict.PostingsList(r.keyOf(q.term, 0), nil, r.list); err != nil {
		return spread{}, err
	}
	if listed := int(r.list.Count()); listed == 0 || dead == nil && len(s.cols.parents) == s.cols.units() { //nolint:gosec // at most 2³²
		s.readers.Put(r)
		return spread{listed, listed}, nil // each parent has one unit
	}
	units, err := s.listed(r)
	if err != nil {
		return spread{}, err
	}
	n := spreadOf(units, s.owners(), len(s.cols.parents), dead, seen)
	s.readers.Put(r)
	return n, nil
}
