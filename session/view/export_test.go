package view

import (
	"context"

	"github.com/ragctx/ragctx/session"
)

// Priced returns of how many messages of a session's branch the costs are known, and how
// many it has.
func Priced(s *Service, k session.Key) (priced, all int) {
	l, err := s.load(context.Background(), k, "")
	if err != nil {
		panic(err)
	}
	for _, t := range l.costs.byTokenizer {
		for _, e := range l.entries {
			if _, ok := t.byBlock[&e.Message.Content[0]]; ok {
				priced++
			}
		}
	}
	return priced, len(l.entries)
}
