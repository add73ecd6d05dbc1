package keyword

// match implements [segment]. How many units have a word is asked of its list: the count
// in a dictionary's entry is wrong behind a word that one unit has (zapx 16.2.8).
func (s *storedSegment) match(m *matcher, fn func(word string, units int) error) error {
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
