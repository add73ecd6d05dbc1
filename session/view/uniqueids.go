package view

import (
	"strconv"

	"github.com/ragctx/ragctx/session"
)

// uniqueIDs gives new ids to messages without an id or with a duplicate one, so that messages are
// never confused. It returns the original ids by new ids. New ids are invalid UTF-8, so that no
// record can name them.
//
// Among copies in several sections the one in the conversation keeps its id, or else the first:
// records refer to it. Two copies in one section both get new ids.
func uniqueIDs(s session.Store) (session.Store, map[string]string) {
	sections := s.Sections()
	have := make([]map[string]int, len(sections))
	for n, one := range sections {
		have[n] = make(map[string]int, len(one.Messages))
		for i := range one.Messages {
			have[n][one.Messages[i].ID]++
		}
	}
	keeps := make(map[string]int) // the section with the message that keeps the id
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

// restoreIDs replaces new ids by the original ones.
func (c *Compiled) restoreIDs(was map[string]string) {
	back := func(id *string) {
		if before, given := was[*id]; given {
			*id = before
		}
	}
	for i := range c.Messages {
		back(&c.Messages[i].ID)
	}
	for i := range c.Dropped {
		back(&c.Dropped[i].ID)
	}
}
