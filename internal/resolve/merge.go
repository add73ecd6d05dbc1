package resolve

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
)

// provenanceKey is the metadata key in which an A3S provider declares the kind of an item's source.
// It is used only to group items for the per-source limits.
const provenanceKey = "a3s.context.provenance"

// candidate is an item that passed admission.
type candidate struct {
	item     ragctx.ContextItem
	rank     float64
	size     int // estimated tokens, for the order
	hints    hints
	stored   bool
	provider int // index of its provider
	index    int // index in its provider's result

	forms        []form // longest first
	preferred    int    // index of the form that is the content
	sentenceOnly bool   // only its shortest form is shown
	cutShell     shell  // of the item when cut
}

func newCandidate(e *entry, provider, index int, it ragctx.ContextItem) *candidate {
	h := hints{e.Priority, e.Trust, e.Freshness}
	c := &candidate{
		item: it, hints: h, stored: e.Stored, provider: provider, index: index,
		size: claimedTokens(it), rank: h.rank(it.Relevance),
	}
	c.forms, c.preferred = ladder(it)
	return c
}

// hints are the operator's settings of a provider.
type hints struct{ priority, trust, freshness float64 }

// rank returns the rank of an item of the given relevance.
func (h hints) rank(relevance float64) float64 {
	return relevance + .25*ragctx.Clamp01(h.priority) + .15*ragctx.Clamp01(h.trust) + .10*ragctx.Clamp01(h.freshness)
}

// passage returns the text that was found. For an item at full depth it is a part of the content.
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

// compare is a total order of candidates.
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

// merge sorts the candidates and removes duplicates, keeping the better one. Duplicates have the
// same content, or the same source and id from the same provider; a provider's ids cannot remove
// items of another provider. The source alone does not make a duplicate, because all passages of a
// document share it. Among equal contents the stored one is kept, unless the other one is required.
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
		yields := !c.stored && !c.item.Required && stored[string(buf)]
		if yields || ids[k] || contents[string(buf)] {
			duplicates = append(duplicates, c)
			continue
		}
		ids[k], contents[string(buf)] = true, true
		kept = append(kept, c)
	}
	return kept, duplicates
}

// storedContents returns the contents of stored candidates, or nil if all candidates are stored.
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

// sentenceShare is a share of the best relevance. Below it, if relevance limits the answer, only a sentence of an item is
// shown. It was tuned on testdata/mixed; see docs/retrieval.md.
const sentenceShare = 0.5

// sentenceBytes is the length of a text that counts as one sentence.
const sentenceBytes = 180

// applyRelevanceLimits removes the wider forms of items below the best. If limited is set, it also
// limits items far below the best to their shortest form.
func applyRelevanceLimits(list []*candidate, limited bool) {
	var best float64
	for _, c := range list {
		best = max(best, c.item.Relevance)
	}
	for _, c := range list {
		if c.item.Relevance < passage.GrowShare*best {
			c.forms, c.preferred = c.forms[c.preferred:], 0
		}
		farBehind := !c.item.Required && c.item.Relevance < sentenceShare*best
		c.sentenceOnly = limited && farBehind && len(c.item.Content) > sentenceBytes
	}
}

// normalise appends s in lower case with white space reduced to single spaces. All contents pass
// through it, so it has a fast path for ASCII.
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

// bucket is the key of the per-source limits: the declared provenance, else the source up to its
// first colon, else the type.
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
