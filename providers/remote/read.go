package remote

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// Limits of one item.
const (
	maxContentBytes  = 256 << 10 // longer contents are truncated
	maxSourceBytes   = 2 << 10
	maxMetadataBytes = 16 << 10
	maxNote          = 200
)

// answer is the answer of a provider.
type answer struct {
	Items     *[]json.RawMessage `json:"items"`
	Truncated bool               `json:"truncated"`
	Note      string             `json:"note"`
}

// item is one item of an answer. Other fields are ignored.
type item struct {
	ID        string         `json:"id"`
	Type      string         `json:"context_type"`
	Content   string         `json:"content"`
	Relevance float64        `json:"relevance"`
	Source    string         `json:"source"`
	Metadata  map[string]any `json:"metadata"`
	Depth     string         `json:"depth"`
	Occurred  time.Time      `json:"occurred"`
}

// read decodes an answer. Invalid items are dropped and mentioned in the note.
func read(q ragctx.ContextQuery, o *Options, body []byte) (ragctx.ContextResult, error) {
	res := ragctx.ContextResult{Provider: o.Name}
	if len(bytes.TrimSpace(body)) == 0 { // status 204
		return res, nil
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return res, fmt.Errorf("the answer is not a JSON object of the expected form: %w", err)
	}
	if a.Items == nil {
		return res, errors.New("the answer has no list of items")
	}
	res.Truncated = a.Truncated || len(*a.Items) > o.MaxItems
	var bad int
	var why error
	for i, raw := range (*a.Items)[:min(len(*a.Items), o.MaxItems)] {
		it, err := readItem(o, raw)
		if err != nil {
			if bad++; why == nil {
				why = fmt.Errorf("items[%d] %w", i, err)
			}
			continue
		}
		if matches(q.Filter, it) {
			res.Add(it)
		}
	}
	res.Note = clip(a.Note)
	if bad > 0 {
		res.Note = strings.TrimSpace(fmt.Sprintf("%d of its items are invalid and left out: %v. %s", bad, why, res.Note))
		res.Truncated = true
	}
	return res, nil
}

// readItem decodes and checks one item. Errors do not quote it.
func readItem(o *Options, raw json.RawMessage) (ragctx.ContextItem, error) {
	var none ragctx.ContextItem
	var in item
	if json.Unmarshal(raw, &in) != nil {
		return none, errors.New("has fields of the wrong type")
	}
	out := ragctx.ContextItem{
		ID: in.ID, Type: o.Types[0], Content: truncate(in.Content), Source: in.Source, Metadata: in.Metadata, Occurred: in.Occurred,
	}.WithRelevance(in.Relevance)
	switch {
	case in.ID == "" || ragctx.ValidName("id", in.ID) != nil:
		return none, fmt.Errorf("has no id of 1 to %d bytes", ragctx.MaxNameBytes)
	case strings.TrimSpace(in.Content) == "" || ragctx.ValidText("content", in.Content) != nil:
		return none, errors.New("has no content, or content with a NUL byte")
	case len(in.Source) > maxSourceBytes || ragctx.ValidText("source", in.Source) != nil:
		return none, fmt.Errorf("has a source of more than %d bytes, or one with a NUL byte", maxSourceBytes)
	case ragctx.ValidMetadata("metadata", in.Metadata, maxMetadataBytes) != nil:
		return none, fmt.Errorf("has metadata of more than %d bytes, or with an empty or long key", maxMetadataBytes)
	case ragctx.ValidTime("occurred", in.Occurred) != nil:
		return none, errors.New("has a time outside of the years 1 to 9999")
	}
	var err error
	if in.Type != "" {
		if out.Type, err = ragctx.ParseContextType(in.Type); err != nil || !slices.Contains(o.Types, out.Type) {
			return none, errors.New("has a context_type that the provider is not configured for")
		}
	}
	if in.Depth != "" {
		if out.Depth, err = ragctx.ParseContextDepth(in.Depth); err != nil {
			return none, errors.New("has an unknown depth")
		}
	}
	out.Source = qualifiedSource(o.Name, out.Source)
	return out, nil
}

// qualifiedSource prefixes a source with the name of its provider, so that it cannot be mistaken for a document
// or a memory.
func qualifiedSource(name, source string) string {
	if source == "" || source == name || strings.HasPrefix(source, name+":") {
		return cmp.Or(source, name)
	}
	return name + ":" + source
}

// matches reports whether an item satisfies a filter. It is checked here because a provider may
// ignore filters.
func matches(f ragctx.Filter, it ragctx.ContextItem) bool {
	for key, want := range f.Metadata {
		if v, ok := it.Metadata[key]; !ok || fmt.Sprint(v) != want {
			return false
		}
	}
	tags, _ := it.Metadata["tags"].([]any)
	for _, want := range f.Tags {
		if !slices.Contains(tags, any(want)) {
			return false
		}
	}
	if len(f.Sources) > 0 && !slices.ContainsFunc(f.Sources, func(s string) bool {
		prefix, open := strings.CutSuffix(s, "*")
		return it.Source == s || open && strings.HasPrefix(it.Source, prefix)
	}) {
		return false
	}
	after, before := f.OccurredAfter, f.OccurredBefore
	switch {
	case after.IsZero() && before.IsZero():
		return true
	case it.Occurred.IsZero():
		return false
	default:
		return !it.Occurred.Before(after) && (before.IsZero() || it.Occurred.Before(before))
	}
}

// truncate truncates a content that is too long.
func truncate(s string) string {
	if len(s) <= maxContentBytes {
		return s
	}
	n := maxContentBytes
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clip shortens a note and removes control characters, because the provider controls it.
func clip(s string) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) > maxNote {
		r = append(r[:maxNote-3], '.', '.', '.')
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, string(r))
}
