package view

import (
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
	if l, err := ParseLayer(name); err == nil {
		return l
	}
	return stage.AnyLayer
}

// ParseLayer parses the name of a layer of compression; "" and "any" are the default layer.
func ParseLayer(name string) (stage.Layer, error) {
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
}

// Create creates a session atomically. It returns [ragctx.ErrConflict] if the session exists.
func (s *Service) Create(ctx context.Context, k session.Key, o CreateOptions) (Summary, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return Summary{}, err
	}
	layer, err := ParseLayer(string(o.Layer))
	if err != nil {
		return Summary{}, err
	}
	if err := checkParameters(o.Parameters); err != nil {
		return Summary{}, err
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
		return Summary{}, err
	}
	for _, m := range messages {
		a.Entries = append(a.Entries, session.Entry{Section: session.SectionMessages, Message: m})
		a.Sections, a.Leaf = []string{session.SectionMessages}, m.ID
	}
	if err := s.opts.Storage.Import(ctx, k, a); err != nil {
		return Summary{}, err
	}
	return s.Describe(ctx, k)
}

// Append adds messages to a section by the rules of [session.Storage]; "" selects
// [session.SectionMessages]. The output of a step is tagged ([session.Tag]) and must go to
// [session.SectionMessages]; the zero step means no step.
func (s *Service) Append(ctx context.Context, k session.Key, section string, step session.Step,
	messages ...ragctx.Message,
) ([]ragctx.Message, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return nil, err
	}
	if section == "" {
		section = session.SectionMessages
	}
	if step.ID != "" || step.Execution.ID != "" || step.AgentID != "" || step.Final {
		if section != session.SectionMessages {
			return nil, ragctx.Invalid("section", "%q cannot take the output of a step; append it to %s",
				ragctx.Clip(section), session.SectionMessages)
		}
		messages = session.Tag(messages, step)
	}
	unlock, err := s.writeLocks.lock(ctx, k)
	if err != nil {
		return nil, err
	}
	defer unlock()
	out, err := s.opts.Storage.Append(ctx, k, section, messages...)
	if err != nil || len(out) == 0 {
		return out, err
	}
	s.updateCache(ctx, k, func(l *branch, v session.Version) *branch {
		if out[0].ParentID != l.leaf() || !isChain(out) {
			return nil // another branch
		}
		return l.appended(v, section, out)
	})
	return out, nil
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

// Edit replaces the messages of a section, or creates the section. On the branch the new messages
// take the position of the first replaced one. The messages of a new section are appended, except
// that a new summary or buffer comes first.
func (s *Service) Edit(ctx context.Context, k session.Key, section string, messages []ragctx.Message) error {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return err
	}
	if err := session.CheckName("section", section); err != nil {
		return err
	}
	return s.store(ctx, k, func(a session.Archive) session.Archive { return withSection(a, section, messages, s.opts.NewID) })
}

// Remove removes a section with its messages from all branches. An unknown section is
// [ragctx.ErrNotFound].
func (s *Service) Remove(ctx context.Context, k session.Key, section string) error {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return err
	}
	info, err := s.opts.Storage.Info(ctx, k)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(info.Sections, func(one session.SectionInfo) bool { return one.Name == section }) {
		return &ragctx.FieldError{
			Field:   "section",
			Problem: fmt.Sprintf("the session has no section %q", ragctx.Clip(section)), Kind: ragctx.ErrNotFound,
		}
	}
	return s.store(ctx, k, func(a session.Archive) session.Archive {
		a = withSection(a, section, nil, s.opts.NewID)
		a.Sections = slices.DeleteFunc(slices.Clone(a.Sections), func(name string) bool { return name == section })
		return a
	})
}

// SetLayer sets the layer of compression of a session.
func (s *Service) SetLayer(ctx context.Context, k session.Key, layer stage.Layer) error {
	return s.Change(ctx, k, Changes{Layer: &layer})
}

// SetParameters merges parameters into the session's; a nil value removes a parameter.
func (s *Service) SetParameters(ctx context.Context, k session.Key, parameters map[string]any) error {
	return s.Change(ctx, k, Changes{Parameters: parameters})
}

// Changes are the changes of [Service.Change]. Nil fields stay unchanged.
type Changes struct {
	Layer *stage.Layer
	// Parameters are merged into the existing ones; a nil value removes a parameter.
	Parameters map[string]any
}

// Change changes a session atomically.
func (s *Service) Change(ctx context.Context, k session.Key, c Changes) error {
	if err := checkParameters(c.Parameters); err != nil {
		return err
	}
	parameters := maps.Clone(c.Parameters)
	if parameters == nil {
		parameters = make(map[string]any, 1)
	}
	if c.Layer != nil {
		layer, err := ParseLayer(string(*c.Layer))
		if err != nil {
			return err
		}
		if parameters[ParameterLayer] = string(layer); layer == stage.AnyLayer {
			parameters[ParameterLayer] = nil
		}
	}
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return err
	}
	return s.opts.Storage.Annotate(ctx, k, parameters)
}

// checkParameters rejects reserved parameters.
func checkParameters(parameters map[string]any) error {
	if _, meant := parameters[ParameterLayer]; meant {
		return ragctx.Invalid("parameters."+ParameterLayer, "is reserved for the session's layer of compression; set the layer")
	}
	return nil
}

// store changes the contents of a session. The lock prevents concurrent appends by the service.
func (s *Service) store(ctx context.Context, k session.Key, change func(session.Archive) session.Archive) error {
	unlock, err := s.writeLocks.lock(ctx, k)
	if err != nil {
		return err
	}
	defer unlock()
	for try := 1; ; try++ {
		var at session.Version
		leaf, moved, err := s.replace(session.WithVersionReport(ctx, &at), k, change)
		if errors.Is(err, ragctx.ErrConflict) && try < attempts {
			continue // changed by another client
		}
		if err == nil && moved {
			at, err = s.move(ctx, k, at, leaf)
		}
		if err == nil {
			at.Report(ctx)
		}
		return err
	}
}

// move sets the leaf after a replacement that brought the session to version at. It returns the new
// version, or at if another client changed the session in between.
func (s *Service) move(ctx context.Context, k session.Key, at session.Version, leaf string) (session.Version, error) {
	var by session.Version
	ctx = session.WithVersionReport(session.WithCondition(ctx, session.Condition{}), &by) // the condition has already been met
	if err := s.opts.Storage.Navigate(ctx, k, leaf); err != nil {
		return at, err
	}
	if by == at.Next() {
		return by, nil
	}
	return at, nil
}

// replace changes the contents of a session once. A concurrent change is a conflict. It returns the
// leaf, and whether it moved.
func (s *Service) replace(ctx context.Context, k session.Key,
	change func(session.Archive) session.Archive,
) (leaf string, moved bool, err error) {
	at, err := s.opts.Storage.Version(ctx, k)
	if err != nil {
		return "", false, err
	}
	before, err := s.opts.Storage.Export(ctx, k)
	if err != nil {
		return "", false, err
	}
	after := change(before)
	_, err = s.opts.Storage.Replace(ctx, k, at, after.Store())
	return after.Leaf, after.Leaf != before.Leaf, err
}
