package session

import (
	"maps"

	"github.com/ragctx/ragctx"
)

// Execution is one run of an agent, from a user's instruction to the answer. The zero value means
// that nothing is being executed.
type Execution struct {
	ID string
	// AgentID is the agent that runs.
	AgentID string
}

// Step is one step of an execution: an answer of the model with what its tools returned.
type Step struct {
	Execution

	ID string
	// Final marks the answer, which is part of the conversation. All earlier steps are trace.
	Final bool
	// ToolExecutions maps the ids of calls to the ids of the tool runs.
	ToolExecutions map[string]string
}

// Tag returns the messages of a step with metadata of the step. It sets is_trace on all but the
// answer. Messages of a user belong to no step and stay unchanged.
func Tag(messages []ragctx.Message, s Step) []ragctx.Message {
	out := make([]ragctx.Message, len(messages))
	for i, m := range messages {
		if !canBegin(m) {
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

// Untag returns a message without the metadata that [Tag] adds.
func Untag(m ragctx.Message) ragctx.Message {
	m.Metadata = maps.Clone(m.Metadata)
	for _, mark := range [...]string{
		ragctx.MetaIsTrace, ragctx.MetaExecutionID, ragctx.MetaStepID, ragctx.MetaAgentID,
		ragctx.MetaToolExecutionID,
	} {
		delete(m.Metadata, mark)
	}
	return m
}

// WithStep returns the context with the tagged output of a step appended to [SectionMessages]. A
// step without output changes nothing.
func (c Context) WithStep(s Step, output ...ragctx.Message) Context {
	return c.WithAppendedMessages(Tag(output, s)...)
}

// Shows reports whether a model is shown a message during an execution: it is part of the
// conversation, or a trace of this execution.
func (e Execution) Shows(m *ragctx.Message) bool {
	return len(m.Metadata) == 0 || !m.IsTrace() || e.ID != "" && m.ExecutionID() == e.ID
}
