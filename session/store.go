package session

import (
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
)

// Sections with a fixed meaning. Others may have any name.
const (
	SectionMessages = "messages" // the conversation
	SectionBuffer   = "buffer"   // messages that have left the conversation and are not summarized yet
	SectionSummary  = "summary"  // the summary of earlier messages
)

// InferenceOrder returns the order in which a model is shown the sections: the oldest and most
// general first.
func InferenceOrder() []string { return []string{SectionSummary, SectionBuffer, SectionMessages} }

// Section is a named list of messages.
type Section struct {
	Name     string
	Messages []ragctx.Message
}

// Store is an ordered list of uniquely named sections, with parameters. It is immutable: methods
// that change it return a new store that shares unchanged parts. The zero value is empty. It is
// safe for concurrent use.
//
// A store copies the lists that it receives and returns. Message contents and metadata are shared
// with the caller and must not be changed.
type Store struct {
	sections   []section
	parameters map[string]any
}

type section struct {
	name string
	log  log
}

// NewStore returns a store of sections. Duplicate names are an error.
func NewStore(sections ...Section) (Store, error) {
	var s Store
	for _, one := range sections {
		var err error
		if s, err = s.Add(one); err != nil {
			return Store{}, err
		}
	}
	return s, nil
}

// Add returns the store with a section appended. It returns an error if the name exists.
func (s Store) Add(one Section) (Store, error) {
	if s.Has(one.Name) {
		return Store{}, ragctx.Invalid("sections",
			"a section with the name %q already exists; give each name once, or set or append to the section", ragctx.Clip(one.Name))
	}
	return s.Set(one), nil
}

// Set returns the store with the section replaced, or appended if its name is new.
func (s Store) Set(one Section) Store {
	return s.put(section{one.Name, logOf(one.Messages)})
}

// Append returns the store with messages appended to a section, which is created if needed.
// Appending no messages changes nothing.
func (s Store) Append(name string, messages ...ragctx.Message) Store {
	if len(messages) == 0 {
		return s
	}
	return s.put(section{name, s.log(name).append(messages)})
}

// Remove returns the store without a section.
func (s Store) Remove(name string) Store {
	if i := s.index(name); i >= 0 {
		s.sections = slices.Concat(s.sections[:i], s.sections[i+1:])
	}
	return s
}

// Has reports whether the store has a section.
func (s Store) Has(name string) bool { return s.index(name) >= 0 }

// Section returns a section, or an empty one if it does not exist.
func (s Store) Section(name string) Section {
	return Section{name, slices.Clone(s.log(name).messages)}
}

// Sections returns all sections in order.
func (s Store) Sections() []Section {
	out := make([]Section, len(s.sections))
	for i, one := range s.sections {
		out[i] = Section{one.name, slices.Clone(one.log.messages)}
	}
	return out
}

// Names returns the names of the sections in order.
func (s Store) Names() []string {
	out := make([]string, len(s.sections))
	for i, one := range s.sections {
		out[i] = one.name
	}
	return out
}

// Len returns the number of messages in all sections.
func (s Store) Len() int {
	n := 0
	for _, one := range s.sections {
		n += len(one.log.messages)
	}
	return n
}

// Select returns the store with only the named sections, in that order. Unknown and repeated names
// are skipped; without names it returns all sections.
func (s Store) Select(names ...string) Store {
	if len(names) == 0 {
		return s
	}
	out := Store{parameters: s.parameters}
	for _, name := range names {
		if i := s.index(name); i >= 0 && !out.Has(name) {
			out.sections = append(out.sections, s.sections[i])
		}
	}
	return out
}

// Merge returns the store with the messages of another store appended to the sections of the same
// names, or to new sections at the end. The parameters of the other store win.
func (s Store) Merge(other Store) Store {
	for _, one := range other.sections {
		s = s.put(section{one.name, s.log(one.name).append(one.log.messages)})
	}
	return s.WithParameters(other.parameters)
}

// WithoutEmpty returns the store without empty messages and sections.
func (s Store) WithoutEmpty() Store {
	var kept []section
	for _, one := range s.sections {
		if slices.ContainsFunc(one.log.messages, ragctx.Message.IsEmpty) {
			one.log = logOf(appendNonEmpty(nil, one.log.messages, nil))
		}
		if len(one.log.messages) > 0 {
			kept = append(kept, one)
		}
	}
	s.sections = kept
	return s
}

// Messages returns the messages of all sections in order, without empty ones.
func (s Store) Messages() []ragctx.Message { return s.filter(nil) }

// filter returns the non-empty messages that keep accepts; a nil keep accepts all.
func (s Store) filter(keep func(*ragctx.Message) bool) []ragctx.Message {
	out := make([]ragctx.Message, 0, s.Len())
	for _, one := range s.sections {
		out = appendNonEmpty(out, one.log.messages, keep)
	}
	return out
}

// Parameters returns the annotations of the store.
func (s Store) Parameters() map[string]any { return maps.Clone(s.parameters) }

// WithParameters returns the store with parameters added or replaced.
func (s Store) WithParameters(more map[string]any) Store {
	s.parameters = overlay(s.parameters, more)
	return s
}

// put returns the store with the section replaced, or appended if its name is new.
func (s Store) put(one section) Store {
	if i := s.index(one.name); i >= 0 {
		s.sections = slices.Clone(s.sections)
		s.sections[i] = one
		return s
	}
	s.sections = append(slices.Clip(s.sections), one)
	return s
}

func (s Store) index(name string) int {
	return slices.IndexFunc(s.sections, func(one section) bool { return one.name == name })
}

func (s Store) log(name string) log {
	if i := s.index(name); i >= 0 {
		return s.sections[i].log
	}
	return log{}
}

// appendNonEmpty appends the non-empty messages that keep accepts. It copies whole runs, because
// conversations are long and nearly all messages are kept.
func appendNonEmpty(out, messages []ragctx.Message, keep func(*ragctx.Message) bool) []ragctx.Message {
	from := 0
	for i := range messages {
		if m := &messages[i]; m.IsEmpty() || keep != nil && !keep(m) {
			out = append(out, messages[from:i]...)
			from = i + 1
		}
	}
	return append(out, messages[from:]...)
}

// overlay merges two maps; values in more win. It changes neither.
func overlay(base, more map[string]any) map[string]any {
	if len(more) == 0 {
		return base
	}
	out := make(map[string]any, len(base)+len(more))
	maps.Copy(out, base)
	maps.Copy(out, more)
	return out
}
