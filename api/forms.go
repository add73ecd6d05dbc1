package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
	"github.com/ragctx/ragctx/session/wire"
)

// ownForm is ragctx's own conversation format.
const ownForm = "ragctx"

// Said is a conversation in ragctx's format or a vendor's.
type Said struct {
	Format   string          `json:"format,omitempty" enum:"ragctx,openai,anthropic,gemini" default:"ragctx"`
	System   json.RawMessage `json:"system,omitempty"`
	Messages SaidMessages    `json:"messages,omitzero"`
}

// SaidMessages are messages in any format.
type SaidMessages []json.RawMessage

// Schema implements [huma.SchemaProvider].
func (SaidMessages) Schema(r huma.Registry) *huma.Schema {
	limit := assemble.MaxMessages
	return &huma.Schema{Type: huma.TypeArray, MaxItems: &limit, Items: &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[request.Message](), true, ""),
		{Type: huma.TypeObject, Description: "message in the vendor's format"},
	}}}
}

// FormLoss is content that another format cannot express.
type FormLoss struct {
	Index int    `json:"index" doc:"position in the list that was read or written; -1 is the system prompt"`
	What  string `json:"what" doc:"the lost content"`
}

// lossesOf converts losses for the answer.
func lossesOf(list []wire.Loss) []FormLoss {
	out := make([]FormLoss, len(list))
	for i, l := range list {
		out[i] = FormLoss(l)
	}
	return out
}

// vendor returns the vendor of a format; "" is ragctx.
func vendor(format string) (wire.Vendor, error) {
	if format == "" || strings.EqualFold(format, ownForm) {
		return "", nil
	}
	v, err := wire.ParseVendor(format)
	if err != nil {
		return "", ragctx.Invalid("format", "%q is not a conversation format; use %s, openai, anthropic or gemini",
			ragctx.Clip(format), ownForm)
	}
	return v, nil
}

// parseMessages parses a conversation, which may continue the messages before. Errors in messages of
// ragctx's format name their fields, with paths below at.
func (s *Server) parseMessages(said Said, at string, before ...ragctx.Message) ([]ragctx.Message, []FormLoss, error) {
	v, err := vendor(said.Format)
	if err != nil {
		return nil, nil, err
	}
	if v == "" {
		messages, err := s.own(said, at)
		return messages, []FormLoss{}, cmp.Or(err, checkBlocks(messages, said, at))
	}
	messages, losses, err := wire.ReadNext(v, before, wire.Conversation{System: said.System, Messages: said.Messages})
	if err != nil {
		return nil, nil, ragctx.Invalid(at, "cannot be read in the format of %s: %v; send what its documentation "+
			"says, or name another format", v, err)
	}
	return messages, lossesOf(losses), checkBlocks(messages, said, at)
}

// checkBlocks rejects messages with more blocks than a session allows, even if nothing is stored.
func checkBlocks(messages []ragctx.Message, said Said, at string) error {
	prompts := len(messages) - len(said.Messages) // messages of a system prompt
	for i, m := range messages {
		err := session.CheckBlocks(m.Content, func() string {
			if i < prompts {
				return "system"
			}
			return fmt.Sprintf("%s[%d].content", at, i-prompts)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// own parses messages in ragctx's format.
func (s *Server) own(said Said, at string) ([]ragctx.Message, error) {
	if len(said.System) > 0 {
		return nil, ragctx.Invalid("system", "is a field of the anthropic and gemini formats only; send a "+
			"message with the role system")
	}
	schema := s.schemaOf(reflect.TypeFor[request.Message]())
	var faults []Fault
	for i, raw := range said.Messages {
		found, serr := checkJSON(raw, schema, s.api.OpenAPI().Components.Schemas)
		if serr != nil {
			return nil, ragctx.Invalid(fmt.Sprintf("%s[%d]", at, i), "%s", serr.Message)
		}
		for _, f := range found {
			faults = append(faults, Fault{
				fmt.Sprintf("body.%s[%d]%s", at, i, strings.TrimPrefix(f.Location, "body")),
				f.Message,
			})
		}
	}
	if len(faults) > 0 {
		return nil, invalid(faults[:min(len(faults), maxFaults)]...)
	}
	out := make([]ragctx.Message, len(said.Messages))
	for i, raw := range said.Messages {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, ragctx.Invalid(fmt.Sprintf("%s[%d]", at, i), "cannot be read: %v", err)
		}
		if out[i].Role == "" {
			out[i].Role = ragctx.RoleUser
		}
	}
	return out, nil
}

// encodeMessages encodes messages in a format, and returns the content it cannot express.
func encodeMessages(format string, messages []ragctx.Message) (Said, []FormLoss, error) {
	v, err := vendor(format)
	if err != nil {
		return Said{}, nil, err
	}
	if v != "" {
		c, losses, err := wire.Write(v, messages)
		return Said{Format: string(v), System: c.System, Messages: append(SaidMessages{},
			c.Messages...)}, lossesOf(losses), err
	}
	out := Said{Format: ownForm, Messages: make(SaidMessages, len(messages))}
	for i, m := range messages {
		if out.Messages[i], err = json.Marshal(m); err != nil {
			return Said{}, nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	return out, []FormLoss{}, nil
}

// saidOf encodes messages in ragctx's format.
func saidOf(messages []ragctx.Message) (Said, error) {
	said, _, err := encodeMessages(ownForm, messages)
	return said, err
}

// Read parses messages in ragctx's format.
func (s Said) Read() ([]ragctx.Message, error) {
	out := make([]ragctx.Message, len(s.Messages))
	for i, raw := range s.Messages {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	return out, nil
}
