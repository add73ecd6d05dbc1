package keyword

import "bytes"

// match implements [segment]. Where the automaton rejects the beginning of a key, blocks of keys with the same beginning
// are skipped.
func (s *storedSegment) match(m *matcher, fn func(word string, chunks int) error) error {
	c := s.file.seek([]byte(max(m.from, firstWord)))
	states := []int{m.automaton.Start()} // after each byte of the key
	var last []byte                      // the key whose states these are
	for c.advance() && string(c.key) < m.until {
		same := 0
		for same < min(len(c.key), len(last)) && c.key[same] == last[same] {
			same++
		}
		states = states[:min(len(states), same+1)]
		last = append(last[:0], c.key...)
		for at := len(states) - 1; at < len(c.key) && m.automaton.CanMatch(states[at]); at++ {
			states = append(states, m.automaton.Accept(states[at], c.key[at]))
		}
		end := states[len(states)-1]
		switch {
		case len(states) == len(c.key)+1 && m.automaton.IsMatch(end):
			l, err := s.file.list(c.list)
			if err != nil {
				return err
			}
			if err := fn(string(bytes.Clone(c.key)), l.count); err != nil {
				return err
			}
		case !m.automaton.CanMatch(end):
			c.skip(len(states) - 1)
		}
	}
	return c.err
}
