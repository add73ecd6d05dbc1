package view

import (
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// withBranch returns an archive with another branch to the leaf: each message of it follows the
// preceding one. Messages of other branches stay, except those in gone; their children are attached
// to the nearest remaining ancestor.
func withBranch(a session.Archive, branch []session.Entry, gone map[string]bool) session.Archive {
	on, parents := make(map[string]bool, len(branch)), make(map[string]string, len(a.Entries))
	for _, e := range branch {
		on[e.Message.ID] = true
	}
	for _, e := range a.Entries {
		parents[e.Message.ID] = e.Message.ParentID
	}
	before := make(map[string]string) // nearest remaining ancestor of removed messages
	var out []session.Entry
	for _, e := range a.Entries {
		if on[e.Message.ID] || gone[e.Message.ID] {
			continue
		}
		var walked []string
		at := e.Message.ParentID
		for gone[at] && len(walked) < len(parents) { // the bound ends a cycle
			if known, ok := before[at]; ok {
				at = known
				break
			}
			walked, at = append(walked, at), parents[at]
		}
		for _, id := range walked {
			before[id] = at
		}
		e.Message.ParentID = at
		out = append(out, e)
	}
	a.Leaf = ""
	for _, e := range branch {
		e.Message.ParentID, a.Leaf = a.Leaf, e.Message.ID
		out = append(out, e)
	}
	a.Entries = out
	return a
}

// branchOf returns the messages on the branch to the leaf.
func branchOf(a session.Archive) []session.Entry {
	path, err := a.Path("")
	if err != nil {
		return nil // cannot happen without an id
	}
	return path
}

// withSection returns an archive with the messages of a section replaced.
func withSection(a session.Archive, section string, messages []ragctx.Message, newID func() string) session.Archive {
	gone := make(map[string]bool)
	for _, e := range a.Entries {
		if e.Section == section {
			gone[e.Message.ID] = true
		}
	}
	added := make([]session.Entry, len(messages))
	for i, m := range messages {
		if m.ID == "" {
			m.ID = newID()
		}
		delete(gone, m.ID)
		added[i] = session.Entry{Section: section, Message: m}
	}
	branch := branchOf(a)
	at := slices.IndexFunc(branch, func(e session.Entry) bool { return e.Section == section })
	branch = slices.DeleteFunc(branch, func(e session.Entry) bool { return e.Section == section })
	switch {
	case at >= 0:
	case section == session.SectionSummary || section == session.SectionBuffer:
		at = 0
	default:
		at = len(branch)
	}
	if !slices.Contains(a.Sections, section) {
		a.Sections = append(slices.Clip(a.Sections), section)
	}
	return withBranch(a, slices.Insert(branch, at, added...), gone)
}

// moveToSections returns a change that moves the messages of a branch into the sections of the
// buffer policy. A new summary becomes the first message. Messages in none of the sections move to
// [SectionSummarized] and off the branch, after those summarized before.
func moveToSections(from *branch, to compact.Sections, c scale) func(session.Archive) session.Archive {
	section := make(map[string]string, len(from.entries))
	for _, e := range from.entries {
		switch e.Section {
		case session.SectionSummary, session.SectionBuffer, session.SectionMessages:
			section[e.Message.ID] = SectionSummarized
		}
	}
	for name, messages := range map[string][]ragctx.Message{
		session.SectionSummary: to.Summary, session.SectionBuffer: to.Buffer, session.SectionMessages: to.Messages,
	} {
		for _, m := range messages {
			section[m.ID] = name
		}
	}
	parents, through := summarizedParents(from, section)
	n, tokens := 0, 0
	for _, e := range from.entries {
		if section[e.Message.ID] != SectionSummarized {
			continue
		}
		if before, cost := summarizedBy(e); before > 0 {
			n, tokens = n+before, tokens+cost
		} else {
			n, tokens = n+1, tokens+c.Message(e.Message)
		}
	}
	return func(a session.Archive) session.Archive {
		var branch []session.Entry
		for _, m := range to.Summary {
			if through != "" {
				m.Metadata = maps.Clone(m.Metadata)
				m.Metadata[MetaThrough], m.Metadata[MetaSummarized], m.Metadata[MetaSummarizedTokens] = through, n, tokens
			}
			branch = append(branch, session.Entry{Section: session.SectionSummary, Message: m})
		}
		path := branchOf(a) // computed before the summarized messages, perhaps with the leaf, are removed
		a.Entries = slices.Clone(a.Entries)
		for i := range a.Entries {
			m := &a.Entries[i].Message
			if to, ok := section[m.ID]; ok {
				a.Entries[i].Section = to
			}
			if parent, ok := parents[m.ID]; ok {
				m.ParentID = parent
			}
		}
		for _, e := range path {
			if to, ok := section[e.Message.ID]; ok {
				e.Section = to
			}
			if e.Section != SectionSummarized && e.Section != session.SectionSummary {
				branch = append(branch, e)
			}
		}
		return withBranch(a, branch, nil)
	}
}

// summarizedParents returns the parents of the messages that move to [SectionSummarized], and the
// last of these. An earlier summary of the policy is skipped: the messages that it covers come
// before.
func summarizedParents(from *branch, section map[string]string) (parents map[string]string, through string) {
	parents = make(map[string]string)
	for _, e := range from.entries {
		if section[e.Message.ID] != SectionSummarized {
			continue
		}
		if before := throughOf(e); before != "" {
			through = before
			continue
		}
		parents[e.Message.ID], through = through, e.Message.ID
	}
	return parents, through
}
