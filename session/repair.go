package session

import "context"

// Lost maps the ids of messages that cannot be read to the ids of their parents.
type Lost map[string]string

// Relink attaches the children of lost messages to the nearest existing ancestor. Other dangling
// parents stay unchanged.
func (l Lost) Relink(entries []Entry) {
	if len(l) == 0 {
		return
	}
	there := Archive{Entries: entries}.index()
	for i := range entries {
		m := &entries[i].Message
		if _, lost := l[m.ParentID]; !lost {
			continue
		}
		if _, ok := there[m.ParentID]; !ok {
			m.ParentID = l.nearest(m.ParentID, there)
		}
	}
}

// Repair returns an archive without its lost messages and without labels and compactions of them.
// Children of lost messages are relinked, and the leaf moves to the nearest existing ancestor.
func (l Lost) Repair(ctx context.Context, a Archive) (Archive, error) {
	if len(l) == 0 {
		return a, nil
	}
	l.Relink(a.Entries)
	if _, lost := l[a.Leaf]; lost {
		a.Leaf = l.nearest(a.Leaf, a.index())
	}
	err := a.carryOver(ctx, a)
	return a, err
}

// nearest returns the nearest existing message among id and its ancestors, or "". It shortens the
// visited paths, so that no path is walked twice.
func (l Lost) nearest(id string, there map[string]int) string {
	var passed []string
	for {
		_, ok := there[id]
		parent, lost := l[id]
		if ok || !lost {
			break
		}
		l[id] = "" // ends a cycle
		passed, id = append(passed, id), parent
	}
	if _, ok := there[id]; !ok {
		id = ""
	}
	for _, one := range passed {
		l[one] = id
	}
	return id
}
