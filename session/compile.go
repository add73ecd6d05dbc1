package session

import (
	"context"
	"strings"

	"github.com/ragctx/ragctx"
)

// Compiler chooses what a model is shown of a context. What it returns belongs to the
// caller, and is a conversation that providers take: without empty messages, results that
// have no call, and calls that were passed over. It changes nothing and may be called
// concurrently.
type Compiler interface {
	Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error)
}

// CompilerFunc is a function that is a [Compiler].
type CompilerFunc func(context.Context, Context, Execution) ([]ragctx.Message, error)

// Compile implements [Compiler].
func (f CompilerFunc) Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	return f(ctx, c, e)
}

// DefaultCompiler returns what is used where nothing else is asked for: the sections in
// [InferenceOrder], with the traces of the current execution alone. It is not that of the
// systems that ragctx continues: theirs either show the summary last, because it was made
// last, or all traces ([CurrentTrace], [SelectedSections]).
func DefaultCompiler() Compiler { return CurrentTrace{Sections: InferenceOrder()} }

// CurrentTrace compiles sections in the order given, or all in the order of the store if
// none are. Traces of other executions are left out, and all if there is no execution.
type CurrentTrace struct{ Sections []string }

// Compile implements [Compiler].
func (t CurrentTrace) Compile(_ context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	return valid(c.store.Select(t.Sections...).chosen(e.Shows)), nil
}

// AllSections compiles everything, in the order of the store.
type AllSections struct{}

// Compile implements [Compiler].
func (AllSections) Compile(_ context.Context, c Context, _ Execution) ([]ragctx.Message, error) {
	return valid(c.store.Messages()), nil
}

// SelectedSections compiles the sections named, in that order, with all traces. Sections
// that are not there are skipped. No names are [SectionMessages] alone, which is not what
// they are to a store.
type SelectedSections struct{ Names []string }

// Compile implements [Compiler].
func (s SelectedSections) Compile(_ context.Context, c Context, _ Execution) ([]ragctx.Message, error) {
	names := s.Names
	if len(names) == 0 {
		names = []string{SectionMessages}
	}
	return valid(c.store.Select(names...).Messages()), nil
}

// compilers are those that can be asked for by name.
var compilers = []struct {
	name    string
	chooses bool // among sections
	make    func(sections []string) Compiler
}{
	{"default", false, func([]string) Compiler { return DefaultCompiler() }},
	{"conversation_with_current_tool_trace", true, func(s []string) Compiler { return CurrentTrace{s} }},
	{"all_sections", false, func([]string) Compiler { return AllSections{} }},
	{"selected_sections", true, func(s []string) Compiler { return SelectedSections{s} }},
}

// CompilerNames returns the names that [NewCompiler] knows.
func CompilerNames() []string {
	out := make([]string, len(compilers))
	for i, c := range compilers {
		out[i] = c.name
	}
	return out
}

// NewCompiler returns a compiler by its name, with the sections that it is for where it
// has a choice. "" is the default.
func NewCompiler(name string, sections ...string) (Compiler, error) {
	for _, c := range compilers {
		switch {
		case c.name != name && (name != "" || c.name != "default"):
		case len(sections) > 0 && !c.chooses:
			return nil, ragctx.Invalid("select", "means nothing to the compiler %s, which has no choice of sections; leave it out, or use selected_sections", c.name)
		default:
			return c.make(sections), nil
		}
	}
	return nil, ragctx.Invalid("compiler", "%q is not a compiler; use %s", ragctx.Clip(name), strings.Join(CompilerNames(), ", "))
}

// valid returns a conversation that providers take: [Sound] without its figures. The list
// that is given is not used any more.
func valid(messages []ragctx.Message) []ragctx.Message {
	v, _, _ := sound(messages, Limits{})
	return v.Messages
}
