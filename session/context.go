package session

import (
	"encoding/json"
	"maps"

	"github.com/ragctx/ragctx"
)

// Context is the complete state of one agent's conversation: messages in sections, metadata, the
// system prompt, and the response format. It is immutable like [Store], and its zero value is
// empty.
type Context struct {
	store    Store
	metadata map[string]any
	system   string
	format   ResponseFormat
}

// Changes are the fields that [Context.With] replaces. Nil fields stay unchanged, so With cannot
// clear a field.
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

// Metadata returns the annotations of the context.
func (c Context) Metadata() map[string]any { return maps.Clone(c.metadata) }

// SystemPrompt returns the model's instructions.
func (c Context) SystemPrompt() string { return c.system }

// ResponseFormat returns the required form of answers.
func (c Context) ResponseFormat() ResponseFormat { return c.format }

// With returns the context with the given changes.
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

// WithMessages returns the context with the messages of [SectionMessages] replaced.
func (c Context) WithMessages(messages []ragctx.Message) Context {
	c.store = c.store.Set(Section{SectionMessages, messages})
	return c
}

// WithAppendedMessages returns the context with messages appended to [SectionMessages].
func (c Context) WithAppendedMessages(messages ...ragctx.Message) Context {
	c.store = c.store.Append(SectionMessages, messages...)
	return c
}

// WithMetadataKey returns the context with one more annotation.
func (c Context) WithMetadataKey(key string, value any) Context {
	c.metadata = overlay(c.metadata, map[string]any{key: value})
	return c
}

// WithSystemPrompt returns the context with another system prompt.
func (c Context) WithSystemPrompt(prompt string) Context {
	c.system = prompt
	return c
}

// WithResponseFormat returns the context with another response format.
func (c Context) WithResponseFormat(f ResponseFormat) Context {
	c.format = f
	return c
}

// WithSettings returns the context with a system prompt and a response format. Empty arguments
// leave the context's values unchanged.
func (c Context) WithSettings(prompt string, f ResponseFormat) Context {
	if prompt != "" {
		c.system = prompt
	}
	if !f.IsEmpty() {
		c.format = f
	}
	return c
}

// CacheablePrefix is the part of a prompt that is the same in successive calls of a model, so that
// providers can cache it.
type CacheablePrefix struct {
	// Messages holds the system message, or nothing if there is no prompt.
	Messages []ragctx.Message
	// Tools are tool definitions in the provider's format.
	Tools          []json.RawMessage
	ResponseFormat ResponseFormat
}

// CacheablePrefix returns the cacheable part of the context with the definitions of tools.
func (c Context) CacheablePrefix(tools []json.RawMessage) CacheablePrefix {
	out := CacheablePrefix{Tools: tools, ResponseFormat: c.format}
	if c.system != "" {
		out.Messages = []ragctx.Message{ragctx.TextMessage(ragctx.RoleSystem, c.system)}
	}
	return out
}
