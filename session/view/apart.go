package view

import (
	"strconv"

	"github.com/ragctx/ragctx/session"
)

// apart gives ids to the messages of a store that have none, or one that others have too, so
// that none is taken for another. It returns the ids that they had by those that they were
// given, which no record names: they are no UTF-8.
//
// Of copies in several sections the message of the conversation itself keeps its id, or the
// first one: records name it. Of two in one section neither does.
func apart(s session.Store) (session.Store, map[string]string) {
	sections := s.Sections()
	have := make([]map[string]int, len(sections))
	for n, one := range sections {
		have[n] = make(map[string]int, len(one.Messages))
		for i := range one.Messages {
			have[n][one.Messages[i].ID]++
		}
	}
	keeps := make(map[string]int) // the section whose message keeps an id
	for n, one := range sections {
		for id, times := range have[n] {
			if _, kept := keeps[id]; times == 1 && (!kept || one.Name == session.SectionMessages) {
				keeps[id] = n
			}
		}
	}
	was := make(map[string]string)
	for n, one := range sections {
		for i := range one.Messages {
			if id := &one.Messages[i].ID; *id == "" || have[n][*id] > 1 || keeps[*id] != n {
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
