package session

import (
	"bytes"
	"reflect"

	"github.com/ragctx/ragctx"
)

// lookup returns what finds entries by the ids of their messages.
func (a Archive) lookup(at map[string]int) func(id string) (Entry, bool) {
	return func(id string) (Entry, bool) {
		i, ok := at[id]
		if !ok {
			return Entry{}, false
		}
		return a.Entries[i], true
	}
}

// intact reports whether a compaction is about what it was about before: the way from its
// last message back to its first one, or to the beginning if it names none, has the same
// messages in the same sections, saying the same. A range of more than one section is
// looked at from the beginning, as sections are shown in an order of their own. No way is
// longer than most, where parents form a circle.
func intact(c Compaction, now, then func(id string) (Entry, bool), most int) bool {
	section, one := "", true
	for id := c.To; id != "" && most > 0; most-- {
		a, there := now(id)
		b, was := then(id)
		if !there && !was {
			return true // the way has always begun after it
		}
		if !there || !was || !sameEntry(a, b) {
			return false
		}
		one = one && (section == "" || section == a.Section)
		section = a.Section
		if id == c.From && one {
			return true
		}
		if a.Message.ParentID != b.Message.ParentID {
			return false
		}
		id = a.Message.ParentID
	}
	return true
}

// sameEntry reports whether two messages of one id are in the same section and say the same.
func sameEntry(a, b Entry) bool {
	if a.Section != b.Section {
		return false
	}
	x, y := a.Message, b.Message
	return x.Role == y.Role && x.Name == y.Name && (reflect.DeepEqual(x.Content, y.Content) || sameText(x, y))
}

// sameText reports whether two messages are written alike, as JSON may be spaced.
func sameText(x, y ragctx.Message) bool {
	a, err := EncodeMessage(ragctx.Message{Role: x.Role, Content: x.Content})
	if err != nil {
		return false
	}
	b, err := EncodeMessage(ragctx.Message{Role: y.Role, Content: y.Content})
	return err == nil && bytes.Equal(a, b)
}
