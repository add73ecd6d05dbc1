package resolve

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// provenanceKey is where an A3S provider says which kind of source an item has.
// It only groups items for the per-source limits.
const provenanceKey = "a3s.context.provenance"

// candidate is an item that passed admission.
type candidate struct {
	item     ragctx.ContextItem
	rank     float64
	size     int // rough tokens, for the order
	hints    hints
	stored   bool
	provider int // position of its provider
	index    int // position in its provider's result

	forms     []form // longest first
	preferred int    // index of the form that is the content
	brief     bool   // only its shortest form is shown
	cutShell  shell  // of an item that is cut
}

func newCandidate(e *entry, provider, index int, it ragctx.ContextItem) *candidate {
	h := hints{e.Priority, e.Trust, e.Freshness}
	c := &candidate{
		item: it, hints: h, stored: e.Stored, provider: provider, index: index, size: claimedTokens(it), rank: h.rank(it.Relevance),
	}
	c.forms, c.preferred = ladder(it)
	return c
}

// hints are what the operator's configuration says of a provider.
type hints struct{ priority, trust, freshness float64 }

// rank returns what items of that relevance are ordered by.
func (h hints) rank(relevance float64) float64 {
	return relevance + .25*ragctx.Clamp01(h.priority) + .15*ragctx.Clamp01(h.trust) + .10*ragctx.Clamp01(h.freshness)
}

// passage returns the text that was found: of an item that is shown in full it is
// somewhere in it.
func (c *candidate) passage() string {
	if c.item.Depth == ragctx.DepthFull {
		for _, f := range c.item.Forms.Shorter {
			if f.Depth == ragctx.DepthOverview {
				return f.Text
			}
		}
	}
	return c.item.Content
}

// compare orders candidates; only the same position in the same result is equal.
func compare(a, b *candidate) int {
	if a.item.Required != b.item.Required {
		if a.item.Required {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.rank, a.rank),
		cmp.Compare(b.item.Relevance, a.item.Relevance),
		cmp.Compare(a.size, b.size),
		cmp.Compare(a.item.ID, b.item.ID),
		cmp.Compare(a.provider, b.provider),
		cmp.Compare(a.index, b.index),
	)
}

// merge sorts the candidates and keeps the better of each pair that has the same
// content, or the same source and id of the same provider: what one provider says
// of its items does not put out those of another. The source alone does not make
// a duplicate: all passages of a document share it. Of equal contents the stored one
// is kept, whatever others claim, unless the other one is required.
func merge(list []*candidate) (kept, duplicates []*candidate) {
	type key struct {
		provider   int
		source, id string
	}
	slices.SortFunc(list, compare)
	ids := make(map[key]bool, len(list))
	contents := make(map[string]bool, len(list))
	stored := storedContents(list)
	var buf []byte
	for _, c := range list {
		k := key{c.provider, c.item.Source, c.item.ID}
		buf = normalise(buf[:0], c.item.Content)
		gives := !c.stored && !c.item.Required && stored[string(buf)]
		if gives || ids[k] || contents[string(buf)] {
			duplicates = append(duplicates, c)
			continue
		}
		ids[k], contents[string(buf)] = true, true
		kept = append(kept, c)
	}
	return kept, duplicates
}

// storedContents returns the contents that are stored, where some candidates are not.
func storedContents(list []*candidate) map[string]bool {
	if !slices.ContainsFunc(list, func(c *candidate) bool { return !c.stored }) {
		return nil
	}
	out := make(map[string]bool)
	for _, c := range list {
		if c.stored {
			out[string(normalise(nil, c.item.Content))] = true
		}
	}
	return out
}

// Shares of the best relevance. What hardly answers is not worth more tokens: an item grows
// from the first on, and below the second one an answer that is judged by relevance shows a
// sentence of it. They were chosen on testdata/mixed; see docs/retrieval.md.
const (
	grows = 0.75
	weak  = 0.5
)

// briefBytes is the length of a text that is as brief as a sentence.
const briefBytes = 200

// byRelevance has items that are behind the best show no more than their content, and where
// the answer is judged, those that are far behind no more than
// their shortest form.
func byRelevance(list []*candidate, judged bool) {
	var best float64
	for _, c := range list {
		best = max(best, c.item.Relevance)
	}
	for _, c := range list {
		if c.item.Relevance < grows*best {
			c.forms, c.preferred = c.forms[c.preferred:], 0
		}
		c.brief = judged && !c.item.Required && c.item.Relevance < weak*best && len(c.item.Content) > briefBytes
	}
}

// normalise appends s in lower case with its white space reduced to single
// spaces. All contents pass through it, so it goes byte by byte where it can.
func normalise(dst []byte, s string) []byte {
	dst = slices.Grow(dst, len(s))
	space := false
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			r = unicode.ToLower(r)
		}
		i += size
		if r == ' ' || '\t' <= r && r <= '\r' || r >= utf8.RuneSelf && unicode.IsSpace(r) {
			space = len(dst) > 0
			continue
		}
		if space {
			dst, space = append(dst, ' '), false
		}
		switch {
		case 'A' <= r && r <= 'Z':
			dst = append(dst, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			dst = append(dst, byte(r))
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// bucket is what the per-source limits count by: the declared provenance, else
// the source up to its first colon, else the type.
func bucket(it ragctx.ContextItem) string {
	if p, ok := it.Metadata[provenanceKey].(string); ok && p != "" {
		return p
	}
	if it.Source != "" {
		scheme, _, _ := strings.Cut(it.Source, ":")
		return scheme
	}
	return string(it.Type)
}
