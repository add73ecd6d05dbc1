// Package wire reads and writes conversations as vendors of models want them: OpenAI's
// chat completions, Anthropic's messages, Gemini's contents.
//
// What one vendor can say is the same after it was read and written for that vendor: parts of
// kinds of the vendor's own are blocks ([ragctx.BlockVendor]), fields of parts stand in their
// blocks, and those of a message (signatures, refusals) in its metadata, under the vendor's
// key, without what is said.
// Between vendors something can be lost, and every [Loss] is listed. A message that is of
// another vendor's form than it is said to be is refused: what it says would not be seen.
//
// Written conversations have tool results where each vendor documents that they belong,
// directly after their calls, also where they came late. Calls that have no result yet
// come last. Nothing is repaired beyond that: results without calls, and calls that were
// passed over, are for session.Sound to leave out.
package wire

import (
	"encoding/json"
	"strings"

	"github.com/ragctx/ragctx"
)

// Vendor names a form of conversations.
type Vendor string

// The vendors.
const (
	OpenAI    Vendor = "openai"
	Anthropic Vendor = "anthropic"
	Gemini    Vendor = "gemini"
)

// ParseVendor reads the name of a vendor in any letter case.
func ParseVendor(s string) (Vendor, error) {
	v := Vendor(strings.ToLower(s))
	if _, ok := vendors[v]; !ok {
		return "", ragctx.Invalid("vendor", "%q is not a form of conversations; use openai, anthropic or gemini", ragctx.Clip(s))
	}
	return v, nil
}

// Conversation is what is said to a model, in a vendor's JSON.
type Conversation struct {
	// System is what stands beside the messages: Anthropic's system, Gemini's
	// systemInstruction. It is nil where there is none, and for OpenAI, whose system
	// messages are among the others.
	System json.RawMessage
	// Messages are OpenAI's and Anthropic's messages, and Gemini's contents.
	Messages []json.RawMessage
}

// Loss is something that cannot be said in the other form.
type Loss struct {
	// Index is the message's place in the list that was read or written; -1 is the system
	// prompt.
	Index int
	What  string
}

// form reads and writes one vendor's messages.
type form interface {
	read(c Conversation, before []ragctx.Message, l *losses) ([]ragctx.Message, error)
	write(messages []indexed, l *losses) Conversation
	// renamed says what ids of calls must be like.
	renamed(id string) string
}

var vendors = map[Vendor]form{OpenAI: openAI{}, Anthropic: anthropic{}, Gemini: gemini{}}

// Read returns a vendor's conversation as messages, the system prompt first.
func Read(v Vendor, c Conversation) ([]ragctx.Message, []Loss, error) { return ReadNext(v, nil, c) }

// ReadNext is [Read] of what follows messages that are there already. Gemini's calls may
// have no ids; their results find them among those before.
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

// Write returns messages as a vendor wants them.
func Write(v Vendor, messages []ragctx.Message) (Conversation, []Loss, error) {
	f, ok := vendors[v]
	if !ok {
		_, err := ParseVendor(string(v))
		return Conversation{}, nil, err
	}
	var l losses
	own := make([]ragctx.Message, len(messages))
	for i, m := range messages {
		own[i] = l.native(v, m, i)
	}
	return f.write(arrange(own, v, f.renamed, &l), &l), l.list, nil
}

// losses collects what is lost.
type losses struct{ list []Loss }

func (l *losses) add(index int, what string) { l.list = append(l.list, Loss{index, what}) }

// native returns a message without what only other vendors understand, which it lists.
func (l *losses) native(v Vendor, m ragctx.Message, index int) ragctx.Message {
	foreign := make(map[Vendor]bool)
	m.Content = nativeContent(v, m.Content, foreign)
	for _, other := range []Vendor{OpenAI, Anthropic, Gemini} {
		if other != v && (foreign[other] || len(extraOf(m, other).Fields) > 0) {
			l.add(index, "fields and parts that only "+string(other)+" has")
		}
	}
	return m
}

// nativeContent returns a content of its own without other vendors' parts, whose forms it notes.
func nativeContent(v Vendor, c ragctx.Content, foreign map[Vendor]bool) ragctx.Content {
	var out ragctx.Content
	for _, b := range c {
		if b.Type == ragctx.BlockVendor && b.Form != string(v) {
			foreign[Vendor(b.Form)] = true
			continue
		}
		b.Content = nativeContent(v, b.Content, foreign)
		out = append(out, b)
	}
	return out
}
