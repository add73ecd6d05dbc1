package keyword

// among implements [segment].
func (s *storedSegment) among(q subsetLookup, to []posting) ([]posting, docFreq, error) {
	if len(q.chunks) == 0 && !q.counted {
		return to, docFreq{}, nil
	}
	r := s.reader()
	defer s.readers.Put(r)
	l, ok, err := s.find(r, q.term)
	if err != nil || !ok {
		return to, docFreq{}, err
	}
	var n docFreq
	if q.counted {
		if n, err = s.counted(r, &l, q); err != nil {
			return to, n, err
		}
	}
	to, err = l.appendAmong(to, &q, &r.nums)
	return to, n, err
}

// counted returns the number of live chunks and items in a list.
func (s *storedSegment) counted(r *termReader, l *termList, q subsetLookup) (n docFreq, err error) {
	if q.of.dead == nil {
		return docFreq{l.count, l.texts}, nil
	}
	n, ok := q.of.freqs.get(q.term)
	if !ok {
		if n, err = s.count(r, l, q); err == nil {
			q.of.freqs.put(q.term, n)
		}
	}
	return n, err
}

// count counts the live chunks in a list, and their items. It subtracts dead chunks from a bitmap's count.
func (s *storedSegment) count(r *termReader, l *termList, q subsetLookup) (n docFreq, err error) {
	if gone, whole := q.of.deadSet.of(q.of); whole && l.bitmap && l.count > 1 {
		r.nums = r.nums[:0]
		for it := gone.Iterator(); it.HasNext(); {
			if chunk := it.Next(); l.rest[chunk>>3]>>(chunk&7)&1 != 0 {
				r.nums = append(r.nums, chunk)
			}
		}
		lost := countDocs(r.nums, s.owners(), len(s.cols.items), nil, q.seen)
		return docFreq{l.count - lost.chunks, l.texts - lost.texts}, nil
	}
	if r.nums, _, err = l.appendChunks(r.nums[:0]); err != nil {
		return n, err
	}
	return countDocs(r.nums, s.owners(), len(s.cols.items), q.of.dead, q.seen), nil
}
