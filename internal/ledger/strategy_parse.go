package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// ParseStrategy parses a strategy: a JSON object, alone or as the contextStrategy of a larger one.
// It returns an invalid value as an error (see [Strategy.Check]), and a warning for each unknown
// field. [Strategy.Warnings] returns further warnings.
func ParseStrategy(raw []byte) (Strategy, []Warning, error) {
	outer, err := fields(raw, "")
	if err != nil {
		return Strategy{}, nil, err
	}
	at := ""
	if inner, ok := outer["contextStrategy"]; ok {
		if outer, err = fields(inner, "contextStrategy"); err != nil {
			return Strategy{}, nil, err
		}
		at = "contextStrategy."
	}
	p := strategyParser{}
	s := p.strategy(outer, at)
	if p.err == nil {
		p.err = s.Check()
	}
	return s, p.warnings, p.err
}

// fields decodes a JSON object.
func fields(raw []byte, at string) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&out); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, ragctx.Invalid(named(at), "is %s; send an object with sources", wrong.Value)
		}
		return nil, ragctx.Invalid(named(at), "is not JSON: %v", err)
	}
	if dec.More() {
		return nil, ragctx.Invalid(named(at), "has something after the object; send one object")
	}
	return out, nil
}

func named(at string) string {
	if at == "" {
		return "strategy"
	}
	return at
}

// strategyParser records the first error.
type strategyParser struct {
	warnings []Warning
	err      error
}

func (p *strategyParser) strategy(f map[string]json.RawMessage, at string) Strategy {
	var s Strategy
	p.known(f, at, "sources", "maxTokens")
	p.read(f, at, "maxTokens", &s.MaxTokens, "a whole number")
	var sources []json.RawMessage
	p.read(f, at, "sources", &sources, "a list of objects")
	for i, raw := range sources {
		here := fmt.Sprintf("%ssources[%d]", at, i)
		src, err := fields(raw, here)
		if err != nil && p.err == nil {
			p.err = err
		}
		s.Sources = append(s.Sources, p.source(src, here+"."))
	}
	return s
}

var sourceFields = []string{
	"kind", "topic", "sender", "query", "since", "strategy", "amount", "limit", "priority", "compactAmount", "compactStrategy",
}

func (p *strategyParser) source(f map[string]json.RawMessage, at string) Source {
	s := Source{Kind: FromMessages}
	p.known(f, at, sourceFields...)
	p.read(f, at, "kind", &s.Kind, "a string")
	p.read(f, at, "topic", &s.Topic, "a string")
	p.read(f, at, "sender", &s.Sender, "a string")
	p.read(f, at, "query", &s.Query, "a string")
	p.read(f, at, "since", &s.Since, "a string or a number of milliseconds")
	p.read(f, at, "strategy", &s.Choice, "a string")
	p.read(f, at, "priority", &s.Priority, "a string")
	p.read(f, at, "compactStrategy", &s.CompactChoice, "a string")
	p.positive(f, at, "compactAmount", &s.CompactAmount)
	p.positive(f, at, "limit", &s.Amount)
	p.positive(f, at, "amount", &s.Amount) // takes precedence over the older name limit
	if isSet(f, "limit") {
		p.warn(at+"limit", "is an older name; use amount")
	}
	return s
}

func isSet(f map[string]json.RawMessage, key string) bool {
	raw, ok := f[key]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// read decodes a field if it is set.
func (p *strategyParser) read(f map[string]json.RawMessage, at, key string, into any, want string) {
	if !isSet(f, key) {
		return
	}
	err := json.Unmarshal(f[key], into)
	var own *ragctx.FieldError
	switch {
	case err == nil || p.err != nil:
	case errors.As(err, &own):
		p.err = ragctx.Invalid(at+key, "%s", own.Problem)
	default:
		p.err = ragctx.Invalid(at+key, "is %s; send %s", ragctx.Clip(string(f[key])), want)
	}
}

func (p *strategyParser) positive(f map[string]json.RawMessage, at, key string, into *int) {
	if !isSet(f, key) {
		return
	}
	p.read(f, at, key, into, "a whole number, 1 or more")
	if *into < 1 && p.err == nil {
		p.err = ragctx.Invalid(at+key, "is %d; use 1 or more, or leave it out", *into)
	}
}

// maxUnknown limits the unknown fields of an object that are named in warnings.
const maxUnknown = 20

// known warns of fields that are not in names.
func (p *strategyParser) known(f map[string]json.RawMessage, at string, names ...string) {
	var other []string
	for key := range f {
		if !slices.Contains(names, key) {
			other = append(other, key)
		}
	}
	slices.Sort(other)
	for i, key := range other {
		if i == maxUnknown {
			p.warn(named(strings.TrimSuffix(at, ".")), fmt.Sprintf("has %d more fields that are not known", len(other)-i))
			break
		}
		p.warn(at+ragctx.Clip(key), "is not known and does nothing; there are "+strings.Join(names, ", "))
	}
}

func (p *strategyParser) warn(field, message string) {
	p.warnings = append(p.warnings, Warning{Field: field, Message: message})
}
