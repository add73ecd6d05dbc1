package session

import (
	"context"
	"strings"

	"github.com/ragctx/ragctx"
)

// Compiler chooses the messages of a context to show to a model. The returned messages belong to
// the caller and form a conversation that providers accept: without empty messages, results without
// calls, and abandoned calls. Implementations change nothing and are safe for concurrent use.
type Compiler interface {
	Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error)
}

// CompilerFunc adapts a function to a [Compiler].
type CompilerFunc func(context.Context, Context, Execution) ([]ragctx.Message, error)

// Compile implements [Compiler].
func (f CompilerFunc) Compile(ctx context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	return f(ctx, c, e)
}

// DefaultCompiler returns the compiler that is used unless another is requested: the sections in
// [InferenceOrder], with the traces of the current execution only. The systems that ragctx
// continues have other defaults: they show the summary last, because it was made last, or show all
// traces ([CurrentTrace], [SelectedSections]).
func DefaultCompiler() Compiler { return CurrentTrace{Sections: InferenceOrder()} }

// CurrentTrace compiles the given sections in order, or all sections in the order of the store if
// Sections is empty. It omits traces of other executions, and all traces outside an execution.
type CurrentTrace struct{ Sections []string }

// Compile implements [Compiler].
func (t CurrentTrace) Compile(_ context.Context, c Context, e Execution) ([]ragctx.Message, error) {
	return soundMessages(c.store.Select(t.Sections...).filter(e.Shows)), nil
}

// AllSections compiles all sections in the order of the store.
type AllSections struct{}

// Compile implements [Compiler].
func (AllSections) Compile(_ context.Context, c Context, _ Execution) ([]ragctx.Message, error) {
	return soundMessages(c.store.Messages()), nil
}

// SelectedSections compiles the named sections in that order, with all traces. It skips sections
// that do not exist. Without names it compiles [SectionMessages] only, whereas Store.Select returns
// all sections.
type SelectedSections struct{ Names []string }

// Compile implements [Compiler].
func (s SelectedSections) Compile(_ context.Context, c Context, _ Execution) ([]ragctx.Message, error) {
	names := s.Names
	if len(names) == 0 {
		names = []string{SectionMessages}
	}
	return soundMessages(c.store.Select(names...).Messages()), nil
}

// compilers are the named compilers.
var compilers = []struct {
	name    string
	chooses bool // whether it takes sections
	make    func(sections []string) Compiler
}{
	{"default", false, func([]string) Compiler { return DefaultCompiler() }},
	{"conversation_with_current_tool_trace", true, func(s []string) Compiler { return CurrentTrace{s} }},
	{"all_sections", false, func([]string) Compiler { return AllSections{} }},
	{"selected_sections", true, func(s []string) Compiler { return SelectedSections{s} }},
}

// CompilerNames returns the names that [NewCompiler] accepts.
func CompilerNames() []string {
	out := make([]string, len(compilers))
	for i, c := range compilers {
		out[i] = c.name
	}
	return out
}

// NewCompiler returns the compiler with a name, for the given sections if it takes sections. "" is
// the default compiler.
func NewCompiler(name string, sections ...string) (Compiler, error) {
	for _, c := range compilers {
		switch {
		case c.name != name && (name != "" || c.name != "default"):
		case len(sections) > 0 && !c.chooses:
			return nil, ragctx.Invalid("select", "does not apply to the compiler %s; leave it out, or use selected_sections", c.name)
		default:
			return c.make(sections), nil
		}
	}
	return nil, ragctx.Invalid("compiler", "%q is not a compiler; use %s", ragctx.Clip(name), strings.Join(CompilerNames(), ", "))
}

// soundMessages returns the messages of [Sound]. It takes ownership of the given list.
func soundMessages(messages []ragctx.Message) []ragctx.Message {
	v, _, _ := sound(messages, Limits{})
	return v.Messages
}
