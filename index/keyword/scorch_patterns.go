package keyword

// match implements [segment]. The number of chunks comes from the posting list: the count in a
// dictionary entry is wrong after a word that occurs in one chunk (zapx 16.2.8).
func (s *storedSegment) match(m *matcher, fn func(word string, chunks int) error) error {
	r, err := s.reader()
	if err != nil {
		return err
	}
	words := r.dict.AutomatonIterator(m.automaton, []byte(m.from), []byte(m.until))
	for {
		word, err := next(words)
		if err != nil {
			return err
		}
		if word == "" {
			s.readers.Put(r)
			return nil
		}
		if r.list, err = r.dict.PostingsList(r.keyOf(word, 0), nil, r.list); err != nil {
			return err
		}
		if err := fn(word, int(r.list.Count())); err != nil { //nolint:gosec // at most 2³²
			return err
		}
	}
}
