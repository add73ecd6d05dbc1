package session

import "context"

// Lost are messages that were there and cannot be read: the parents by the ids.
type Lost map[string]string

// Relink lets what came after lost messages come after the nearest one before them that is
// there. What else has a parent that is not there keeps it.
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

// Left returns an archive without its lost messages, labels and compactions of them: what
// came after them is relinked, and the leaf is the nearest message that is there.
func (l Lost) Left(ctx context.Context, a Archive) (Archive, error) {
	if len(l) == 0 {
		return a, nil
	}
	l.Relink(a.Entries)
	if _, lost := l[a.Leaf]; lost {
		a.Leaf = l.nearest(a.Leaf, a.index())
	}
	err := a.keep(ctx, a)
	return a, err
}

// nearest returns the nearest message that is there, of this one and those before it; ""
// if none is. What was passed is noted as coming after it, so that no way is gone twice.
func (l Lost) nearest(id string, there map[string]int) string {
	var passed []string
	for {
		_, ok := there[id]
		parent, lost := l[id]
		if ok || !lost {
			break
		}
		l[id] = "" // where a circle ends
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
