package session

import (
	"maps"

	"github.com/ragctx/ragctx"
)

// Execution is one run of an agent, from a user's instruction to the answer. The zero
// value is none: nothing is being executed.
type Execution struct {
	ID string
	// AgentID is whose run it is.
	AgentID string
}

// Step is one step of an execution: an answer of the model with what its tools returned.
type Step struct {
	Execution

	ID string
	// Final says that it is the answer, and so part of the conversation. All that comes
	// before is trace.
	Final bool
	// ToolExecutions are the ids of the runs of tools, by the id of their calls.
	ToolExecutions map[string]string
}

// Tag returns the messages of a step with metadata that say so: whose they are, and
// is_trace for all but the answer, where it is absent. A message in which a user speaks is
// nobody's step and stays as it is.
func Tag(messages []ragctx.Message, s Step) []ragctx.Message {
	out := make([]ragctx.Message, len(messages))
	for i, m := range messages {
		if !opens(m) {
			m.Metadata = s.tags(m)
		}
		out[i] = m
	}
	return out
}

func (s Step) tags(m ragctx.Message) map[string]any {
	tags := make(map[string]any, len(m.Metadata)+5)
	maps.Copy(tags, m.Metadata)
	tags[ragctx.MetaStepID], tags[ragctx.MetaExecutionID], tags[ragctx.MetaAgentID] = s.ID, s.Execution.ID, s.AgentID
	delete(tags, ragctx.MetaIsTrace)
	if !s.Final {
		tags[ragctx.MetaIsTrace] = true
	}
	for _, r := range m.ToolResults() {
		if id, ok := s.ToolExecutions[r.ToolUseID]; ok {
			tags[ragctx.MetaToolExecutionID] = id
		}
	}
	return tags
}

// Untag returns a message without what [Tag] adds.
func Untag(m ragctx.Message) ragctx.Message {
	m.Metadata = maps.Clone(m.Metadata)
	for _, mark := range [...]string{ragctx.MetaIsTrace, ragctx.MetaExecutionID, ragctx.MetaStepID, ragctx.MetaAgentID, ragctx.MetaToolExecutionID} {
		delete(m.Metadata, mark)
	}
	return m
}

// WithStep returns the context with the output of a step, tagged, at the end of
// [SectionMessages]. A step without output changes nothing.
func (c Context) WithStep(s Step, output ...ragctx.Message) Context {
	return c.WithAppendedMessages(Tag(output, s)...)
}

// Shows reports whether a model is shown a message during an execution: it is part of the
// conversation, or a trace of this execution.
func (e Execution) Shows(m *ragctx.Message) bool {
	return len(m.Metadata) == 0 || !m.IsTrace() || e.ID != "" && m.ExecutionID() == e.ID
}
