// Package wire reads and writes conversations in the formats of model vendors: OpenAI's chat
// completions, Anthropic's messages and Gemini's contents.
//
// Reading a conversation and writing it for the same vendor preserves it. Parts of vendor-specific
// types become blocks ([ragctx.BlockVendor]). Unknown fields of parts are stored in their blocks,
// unknown fields of messages (signatures, refusals) in the metadata under the vendor's key.
// Conversions between vendors can lose information; every [Loss] is listed. A message in another
// vendor's format is rejected, because its content would be invisible.
//
// Written conversations have tool results where each vendor requires them, directly after their
// calls, even if the results came late. Unanswered calls come last. Nothing else is repaired:
// session.Sound removes results without calls and abandoned calls.
package wire

import (
	"encoding/json"
	"strings"

	"github.com/ragctx/ragctx"
)

// Vendor names a message format.
type Vendor string

// Supported vendors.
const (
	OpenAI    Vendor = "openai"
	Anthropic Vendor = "anthropic"
	Gemini    Vendor = "gemini"
)

// ParseVendor parses the name of a vendor in any letter case.
func ParseVendor(s string) (Vendor, error) {
	v := Vendor(strings.ToLower(s))
	if _, ok := vendors[v]; !ok {
		return "", ragctx.Invalid("vendor", "%q is not a form of conversations; use openai, anthropic or gemini", ragctx.Clip(s))
	}
	return v, nil
}

// Conversation is a prompt in a vendor's JSON.
type Conversation struct {
	// System is the separate system prompt: Anthropic's system, Gemini's systemInstruction. It is
	// nil if there is no system prompt, and for OpenAI, where system messages are part of Messages.
	System json.RawMessage
	// Messages are OpenAI's and Anthropic's messages, and Gemini's contents.
	Messages []json.RawMessage
}

// Loss is information that the target format cannot express.
type Loss struct {
	// Index is the message's index in the list that was read or written; -1 is the system prompt.
	Index int
	What  string
}

// form reads and writes one vendor's messages.
type form interface {
	read(c Conversation, before []ragctx.Message, l *losses) ([]ragctx.Message, error)
	write(messages []indexed, l *losses) Conversation
	// normalizeID returns an id of a call in the form that the vendor accepts.
	normalizeID(id string) string
}

var vendors = map[Vendor]form{OpenAI: openAI{}, Anthropic: anthropic{}, Gemini: gemini{}}

// Read parses a vendor's conversation into messages, the system prompt first.
func Read(v Vendor, c Conversation) ([]ragctx.Message, []Loss, error) { return ReadNext(v, nil, c) }

// ReadNext is [Read] for messages that continue earlier ones. Results of Gemini's calls without ids
// are matched to calls in before.
func ReadNext(v Vendor, before []ragctx.Message, c Conversation) ([]ragctx.Message, []Loss, error) {
	f, ok := vendors[v]
	if !ok {
		_, err := ParseVendor(string(v))
		return nil, nil, err
	}
	var l losses
	messages, err := f.read(c, before, &l)
	return messages, l.list, err
}

// Write returns messages in a vendor's format.
func Write(v Vendor, messages []ragctx.Message) (Conversation, []Loss, error) {
	f, ok := vendors[v]
	if !ok {
		_, err := ParseVendor(string(v))
		return Conversation{}, nil, err
	}
	var l losses
	own := make([]ragctx.Message, len(messages))
	for i, m := range messages {
		own[i] = l.dropForeign(v, m, i)
	}
	return f.write(arrange(own, v, f.normalizeID, &l), &l), l.list, nil
}

// losses collects the losses of one conversion.
type losses struct{ list []Loss }

func (l *losses) add(index int, what string) { l.list = append(l.list, Loss{index, what}) }

// dropForeign removes parts of other vendors from a message and records the loss.
func (l *losses) dropForeign(v Vendor, m ragctx.Message, index int) ragctx.Message {
	foreign := make(map[Vendor]bool)
	m.Content = dropForeignParts(v, m.Content, foreign)
	for _, other := range []Vendor{OpenAI, Anthropic, Gemini} {
		if other != v && (foreign[other] || len(extraOf(m, other).Fields) > 0) {
			l.add(index, "fields and parts that only "+string(other)+" has")
		}
	}
	return m
}

// dropForeignParts returns a copy of a content without other vendors' parts, and adds those vendors
// to foreign.
func dropForeignParts(v Vendor, c ragctx.Content, foreign map[Vendor]bool) ragctx.Content {
	var out ragctx.Content
	for _, b := range c {
		if b.Type == ragctx.BlockVendor && b.Form != string(v) {
			foreign[Vendor(b.Form)] = true
			continue
		}
		b.Content = dropForeignParts(v, b.Content, foreign)
		out = append(out, b)
	}
	return out
}
