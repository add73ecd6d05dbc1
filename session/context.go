package session

import (
	"encoding/json"
	"maps"

	"github.com/ragctx/ragctx"
)

// Context is all that belongs to one agent's conversation: messages in sections, metadata,
// the system prompt, and the form that answers should have. It is immutable as [Store] is,
// and its zero value is empty.
type Context struct {
	store    Store
	metadata map[string]any
	system   string
	format   ResponseFormat
}

// Changes are what [Context.With] puts in place of what a context has. What is nil is
// kept, so that nothing can be cleared by it.
type Changes struct {
	Store          *Store
	Metadata       map[string]any
	SystemPrompt   *string
	ResponseFormat *ResponseFormat
}

// Store returns all sections.
func (c Context) Store() Store { return c.store }

// Messages returns the conversation: the messages of [SectionMessages].
func (c Context) Messages() []ragctx.Message { return c.store.Section(SectionMessages).Messages }

// Metadata returns what the context is annotated with.
func (c Context) Metadata() map[string]any { return maps.Clone(c.metadata) }

// SystemPrompt returns the model's instructions.
func (c Context) SystemPrompt() string { return c.system }

// ResponseFormat returns the form that answers should have.
func (c Context) ResponseFormat() ResponseFormat { return c.format }

// With returns the context with several changes.
func (c Context) With(changes Changes) Context {
	if changes.Store != nil {
		c.store = *changes.Store
	}
	if changes.Metadata != nil {
		c.metadata = maps.Clone(changes.Metadata)
	}
	if changes.SystemPrompt != nil {
		c.system = *changes.SystemPrompt
	}
	if changes.ResponseFormat != nil {
		c.format = *changes.ResponseFormat
	}
	return c
}

// WithStore returns the context with other sections.
func (c Context) WithStore(s Store) Context {
	c.store = s
	return c
}

// WithMessages returns the context with another conversation in [SectionMessages].
func (c Context) WithMessages(messages []ragctx.Message) Context {
	c.store = c.store.Set(Section{SectionMessages, messages})
	return c
}

// WithAppendedMessages returns the context with more messages in [SectionMessages].
func (c Context) WithAppendedMessages(messages ...ragctx.Message) Context {
	c.store = c.store.Append(SectionMessages, messages...)
	return c
}

// WithMetadataKey returns the context with one more annotation.
func (c Context) WithMetadataKey(key string, value any) Context {
	c.metadata = overlay(c.metadata, map[string]any{key: value})
	return c
}

// WithSystemPrompt returns the context with other instructions.
func (c Context) WithSystemPrompt(prompt string) Context {
	c.system = prompt
	return c
}

// WithResponseFormat returns the context with another form of answers.
func (c Context) WithResponseFormat(f ResponseFormat) Context {
	c.format = f
	return c
}

// Configured returns the context with a prompt and a form of answers, each only if it is
// not empty: settings of an agent that say nothing change nothing.
func (c Context) Configured(prompt string, f ResponseFormat) Context {
	if prompt != "" {
		c.system = prompt
	}
	if !f.IsEmpty() {
		c.format = f
	}
	return c
}

// Cached is what of a context stays the same from one call of a model to the next, and
// which providers can therefore cache.
type Cached struct {
	// Messages has one system message, or none if there is no prompt.
	Messages []ragctx.Message
	// Tools are definitions of tools as the provider wants them.
	Tools          []json.RawMessage
	ResponseFormat ResponseFormat
}

// Cached returns what of the context can be cached, with the definitions of tools.
func (c Context) Cached(tools []json.RawMessage) Cached {
	out := Cached{Tools: tools, ResponseFormat: c.format}
	if c.system != "" {
		out.Messages = []ragctx.Message{ragctx.TextMessage(ragctx.RoleSystem, c.system)}
	}
	return out
}
