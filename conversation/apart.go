package conversation

import (
	"strconv"

	"github.com/ragctx/ragctx/session"
)

// apart gives ids to the messages of a store that have none, or one that others have too, so
// that none is taken for another. It returns the ids that they had by those that they were
// given, which no record names: they are no UTF-8.
func apart(s session.Store) (session.Store, map[string]string) {
	sections := s.Sections()
	have := make(map[string]int, s.Len())
	for _, one := range sections {
		for i := range one.Messages {
			have[one.Messages[i].ID]++
		}
	}
	was := make(map[string]string)
	for _, one := range sections {
		for i := range one.Messages {
			if id := &one.Messages[i].ID; *id == "" || have[*id] > 1 {
				given := "\xff" + strconv.Itoa(len(was))
				was[given], *id = *id, given
			}
		}
		if len(was) > 0 {
			s = s.Set(one)
		}
	}
	return s, was
}

// rename gives messages back the ids that they had.
func (c *Compiled) rename(was map[string]string) {
	back := func(id *string) {
		if before, given := was[*id]; given {
			*id = before
		}
	}
	for i := range c.Messages {
		back(&c.Messages[i].ID)
	}
	for i := range c.Cuts {
		back(&c.Cuts[i].ID)
	}
}
