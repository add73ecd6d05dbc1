package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// ParameterLayer is the session parameter with the layer of compression.
const ParameterLayer = "compression_layer"

// layerOf returns the layer in parameters. An unknown layer counts as any.
func layerOf(parameters map[string]any) stage.Layer {
	name, _ := parameters[ParameterLayer].(string)
	if l, err := parseLayer(name); err == nil {
		return l
	}
	return stage.AnyLayer
}

// parseLayer parses the name of a layer of compression; "" and "any" are the default layer.
func parseLayer(name string) (stage.Layer, error) {
	switch l := stage.Layer(name); l {
	case "any", stage.AnyLayer:
		return stage.AnyLayer, nil
	case stage.LayerObservation, stage.LayerCompaction, stage.LayerBuffer, stage.LayerNone:
		return l, nil
	}
	return "", ragctx.Invalid("layer", "%q is unknown; use any, observation, compaction, buffer or none", ragctx.Clip(name))
}

// CreateOptions are the contents of a new session.
type CreateOptions struct {
	Parameters map[string]any
	Layer      stage.Layer
	// Messages are stored in [session.SectionMessages].
	Messages []ragctx.Message
	// Request is the id of the request that creates the session; see [session.Storage].
	Request string
}

// Create creates a session atomically and returns its version. It returns [ragctx.ErrConflict] if the
// session exists.
func (s *Service) Create(ctx context.Context, k session.Key, o CreateOptions) (at session.Version, err error) {
	k, err = s.opts.Admit(ctx, k)
	if err != nil {
		return at, err
	}
	layer, err := parseLayer(string(o.Layer))
	if err != nil {
		return at, err
	}
	if err := checkParameters(o.Parameters); err != nil {
		return at, err
	}
	a := session.Archive{CreatedAt: s.opts.Now().UTC()}
	a.Parameters = session.Store{}.WithParameters(o.Parameters).Parameters()
	if layer != stage.AnyLayer {
		a.Parameters = session.Store{}.WithParameters(a.Parameters).
			WithParameters(map[string]any{ParameterLayer: string(layer)}).Parameters()
	}
	adopt := session.Options{Now: s.opts.Now, NewID: s.opts.NewID}
	messages, err := adopt.Prepare(o.Messages, "", func(string) bool { return false })
	if err != nil {
		return at, err
	}
	for _, m := range messages {
		a.Entries = append(a.Entries, session.Entry{Section: session.SectionMessages, Message: m})
		a.Sections, a.Leaf = []string{session.SectionMessages}, m.ID
	}
	return s.opts.Storage.Create(ctx, k, a, o.Request)
}

// AppendOptions say where messages are appended.
type AppendOptions struct {
	// Section is the section of the messages; "" selects [session.SectionMessages].
	Section string
	// Step is the step with this output, which is tagged ([session.Tag]) and must go to
	// [session.SectionMessages]; the zero step means no step.
	Step session.Step
	When session.Condition
}

// Append adds messages to a section by the rules of [session.Storage]. It returns them as stored, and
// the new version.
func (s *Service) Append(
	ctx context.Context, k session.Key, o AppendOptions, messages ...ragctx.Message,
) (out []ragctx.Message, at session.Version, err error) {
	k, err = s.opts.Admit(ctx, k)
	if err != nil {
		return nil, at, err
	}
	section, step := cmp.Or(o.Section, session.SectionMessages), o.Step
	if step.ID != "" || step.Execution.ID != "" || step.AgentID != "" || step.Final {
		if section != session.SectionMessages {
			return nil, at, ragctx.Invalid("section", "%q cannot take the output of a step; append it to %s",
				ragctx.Clip(section), session.SectionMessages)
		}
		messages = session.Tag(messages, step)
	}
	unlock, err := s.writeLocks.lock(ctx, k)
	if err != nil {
		return nil, at, err
	}
	defer unlock()
	out, at, err = s.opts.Storage.Append(ctx, k, section, messages, o.When)
	if err != nil || len(out) == 0 {
		return out, at, err
	}
	s.cache.update(k, at, func(l *branch) *branch {
		if out[0].ParentID != l.leaf() || !isChain(out) {
			return nil // another branch
		}
		return l.appended(at, section, out)
	})
	return out, at, nil
}

// isChain reports whether each message follows the preceding one.
func isChain(messages []ragctx.Message) bool {
	for i := 1; i < len(messages); i++ {
		if messages[i].ParentID != messages[i-1].ID {
			return false
		}
	}
	return true
}

// Edit replaces the messages of a section, or creates the section, and returns the new version. On
// the branch the new messages take the position of the first replaced one. The messages of a new
// section are appended, except that a new summary or buffer comes first.
func (s *Service) Edit(
	ctx context.Context, k session.Key, section string, messages []ragctx.Message, when session.Condition,
) (at session.Version, err error) {
	k, err = s.opts.Admit(ctx, k)
	if err != nil {
		return at, err
	}
	if err := session.CheckName("section", section); err != nil {
		return at, err
	}
	return s.store(ctx, k, when, func(a session.Archive) (session.Archive, error) {
		return withSection(a, section, messages, s.opts.NewID), nil
	})
}

// Remove removes a section with its messages from all branches, and returns the new version. An
// unknown section is [ragctx.ErrNotFound].
func (s *Service) Remove(
	ctx context.Context, k session.Key, section string, when session.Condition,
) (at session.Version, err error) {
	k, err = s.opts.Admit(ctx, k)
	if err != nil {
		return at, err
	}
	return s.store(ctx, k, when, func(a session.Archive) (session.Archive, error) {
		if !slices.Contains(a.Sections, section) {
			return a, &ragctx.FieldError{
				Field:   "section",
				Problem: fmt.Sprintf("the session has no section %q", ragctx.Clip(section)), Kind: ragctx.ErrNotFound,
			}
		}
		a = withSection(a, section, nil, s.opts.NewID)
		a.Sections = slices.DeleteFunc(slices.Clone(a.Sections), func(name string) bool { return name == section })
		return a, nil
	})
}

// Changes are the changes of [Service.Change]. Nil fields stay unchanged.
type Changes struct {
	Layer *stage.Layer
	// Parameters are merged into the existing ones; a nil value removes a parameter.
	Parameters map[string]any
}

// Change changes a session atomically and returns the new version.
func (s *Service) Change(
	ctx context.Context, k session.Key, c Changes, when session.Condition,
) (at session.Version, err error) {
	if err := checkParameters(c.Parameters); err != nil {
		return at, err
	}
	parameters := maps.Clone(c.Parameters)
	if parameters == nil {
		parameters = make(map[string]any, 1)
	}
	if c.Layer != nil {
		layer, err := parseLayer(string(*c.Layer))
		if err != nil {
			return at, err
		}
		if parameters[ParameterLayer] = string(layer); layer == stage.AnyLayer {
			parameters[ParameterLayer] = nil
		}
	}
	k, err = s.opts.Admit(ctx, k)
	if err != nil {
		return at, err
	}
	return s.opts.Storage.Update(ctx, k, session.Update{Parameters: parameters}, when)
}

// checkParameters rejects reserved parameters.
func checkParameters(parameters map[string]any) error {
	if _, meant := parameters[ParameterLayer]; meant {
		return ragctx.Invalid("parameters."+ParameterLayer, "is reserved for the session's layer of compression; set the layer")
	}
	return nil
}

// attempts is the number of times that a change of a session is computed while others change it.
const attempts = 3

// store changes the contents of a session that meets a condition, and returns the new version. The
// lock prevents concurrent appends by the service.
func (s *Service) store(
	ctx context.Context, k session.Key, when session.Condition, change func(session.Archive) (session.Archive, error),
) (at session.Version, err error) {
	unlock, err := s.writeLocks.lock(ctx, k)
	if err != nil {
		return at, err
	}
	defer unlock()
	for try := 1; ; try++ {
		at, retry, err := s.replace(ctx, k, when, change)
		if !retry || try == attempts {
			return at, err
		}
	}
}

// replace changes the contents of a session once. If another client changed it in between, that is a
// conflict, and replace may be called again.
func (s *Service) replace(
	ctx context.Context, k session.Key, when session.Condition, change func(session.Archive) (session.Archive, error),
) (at session.Version, again bool, err error) {
	before, at, err := session.Export(ctx, s.opts.Storage, k)
	switch {
	case errors.Is(err, ragctx.ErrNotFound):
		return at, false, cmp.Or(when.Check(k, nil), err)
	case err == nil:
		err = when.Check(k, &at)
	}
	if err != nil {
		return at, false, err
	}
	wanted, err := change(before)
	if err != nil {
		return at, false, err
	}
	after, _, err := before.Replaced(ctx, wanted.Store(), session.Options{Now: s.opts.Now, NewID: s.opts.NewID})
	if err != nil {
		return at, false, err
	}
	after.Leaf = wanted.Leaf
	at, err = s.opts.Storage.Replace(ctx, k, at, after)
	return at, errors.Is(err, ragctx.ErrConflict), err
}
