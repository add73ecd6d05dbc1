package session

import (
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
)

// The sections that have a meaning of their own. Others may have any name.
const (
	SectionMessages = "messages" // the conversation
	SectionBuffer   = "buffer"   // what has left the conversation and is not summarised yet
	SectionSummary  = "summary"  // what is left of what was before
)

// InferenceOrder returns the sections in the order in which a model is shown them: what is
// oldest and most general comes first.
func InferenceOrder() []string { return []string{SectionSummary, SectionBuffer, SectionMessages} }

// Section is a named list of messages.
type Section struct {
	Name     string
	Messages []ragctx.Message
}

// Store is an ordered list of sections with names of their own, and parameters. It is
// immutable: what changes it returns another one, which shares with it what both have.
// The zero value is empty. All methods may be called concurrently.
//
// A store keeps copies of the lists that it is given and gives away copies. The messages'
// contents and metadata are shared with whoever has them, and nobody may change them.
type Store struct {
	sections   []section
	parameters map[string]any
}

type section struct {
	name string
	log  log
}

// NewStore returns a store of sections. Two of one name are an error.
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

// Add returns the store with one more section at its end. It is an error if there is one
// of that name.
func (s Store) Add(one Section) (Store, error) {
	if s.Has(one.Name) {
		return Store{}, ragctx.Invalid("sections", "a section with the name %q exists already; give each name once, or set or append to the section", ragctx.Clip(one.Name))
	}
	return s.Set(one), nil
}

// Set returns the store with the section in the place of the one of its name, or at the
// end.
func (s Store) Set(one Section) Store {
	return s.put(section{one.Name, logOf(one.Messages)})
}

// Append returns the store with messages at the end of a section, which is made if need
// be. To append nothing changes nothing.
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

// Has reports whether there is a section of that name.
func (s Store) Has(name string) bool { return s.index(name) >= 0 }

// Section returns a section. One that is not there is empty, and is not made.
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

// Len returns how many messages all sections have.
func (s Store) Len() int {
	n := 0
	for _, one := range s.sections {
		n += len(one.log.messages)
	}
	return n
}

// Select returns the store with only the sections named, in the order asked for. Names
// that nothing has are skipped, and those that come again; no names are all sections.
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

// Merge returns the store with the sections of another: its messages come after those of
// the section of the same name, or in a section at the end. Its parameters win.
func (s Store) Merge(other Store) Store {
	for _, one := range other.sections {
		s = s.put(section{one.name, s.log(one.name).append(one.log.messages)})
	}
	return s.WithParameters(other.parameters)
}

// WithoutEmpty returns the store without empty messages, and then without empty sections.
func (s Store) WithoutEmpty() Store {
	var kept []section
	for _, one := range s.sections {
		if slices.ContainsFunc(one.log.messages, ragctx.Message.IsEmpty) {
			one.log = logOf(filled(nil, one.log.messages, nil))
		}
		if len(one.log.messages) > 0 {
			kept = append(kept, one)
		}
	}
	s.sections = kept
	return s
}

// Messages returns the messages of all sections in order, without empty ones.
func (s Store) Messages() []ragctx.Message { return s.chosen(nil) }

// chosen returns those of the messages that keep keeps; nil keeps all.
func (s Store) chosen(keep func(*ragctx.Message) bool) []ragctx.Message {
	out := make([]ragctx.Message, 0, s.Len())
	for _, one := range s.sections {
		out = filled(out, one.log.messages, keep)
	}
	return out
}

// Parameters returns what the store is annotated with.
func (s Store) Parameters() map[string]any { return maps.Clone(s.parameters) }

// WithParameters returns the store with more parameters, which win over those of their
// name.
func (s Store) WithParameters(more map[string]any) Store {
	s.parameters = overlay(s.parameters, more)
	return s
}

// put returns the store with a section in the place of the one of its name, or at the end.
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

// filled appends the messages that are not empty, and that keep keeps, to a list. They are
// copied in runs: conversations are long, and nearly all is kept.
func filled(out, messages []ragctx.Message, keep func(*ragctx.Message) bool) []ragctx.Message {
	from := 0
	for i := range messages {
		if m := &messages[i]; m.IsEmpty() || keep != nil && !keep(m) {
			out = append(out, messages[from:i]...)
			from = i + 1
		}
	}
	return append(out, messages[from:]...)
}

// overlay returns what is in either map; the second wins. Neither is changed.
func overlay(base, more map[string]any) map[string]any {
	if len(more) == 0 {
		return base
	}
	out := make(map[string]any, len(base)+len(more))
	maps.Copy(out, base)
	maps.Copy(out, more)
	return out
}
