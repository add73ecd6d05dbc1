package resolve

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/xmlfmt"
)

// admit checks the items that a provider returned. It corrects invalid fields where it can, drops
// other invalid items, and applies the query's conditions. It does not modify the provider's slices
// and maps.
func admit(
	q ragctx.ContextQuery, e *entry, provider int, items []ragctx.ContextItem,
) (kept []*candidate, dropped []Dropped) {
	drop := func(it ragctx.ContextItem, r Reason) {
		dropped = append(dropped, Dropped{ID: it.ID, Provider: e.name, Reason: r, Tokens: claimedTokens(it)})
	}
	for i, it := range items {
		it = correct(q, e, it)
		switch {
		case i >= ragctx.MaxResultsLimit:
			drop(it, ReasonMaxResults)
			return kept, dropped // one report stands for all further items
		case it.ID == "":
			drop(it, ReasonNoID)
		case strings.TrimSpace(it.Content) == "":
			drop(it, ReasonEmpty)
		case !q.Wants(it.Type):
			drop(it, ReasonType)
		case slices.Contains(q.Exclude, it.ID):
			drop(it, ReasonExcluded)
		case it.Relevance < q.LeastRelevance() && !it.Required:
			drop(it, ReasonMinRelevance)
		default:
			kept = append(kept, newCandidate(e, provider, i, it))
		}
	}
	return kept, dropped
}

// correct normalises the fields of an item.
func correct(q ragctx.ContextQuery, e *entry, it ragctx.ContextItem) ragctx.ContextItem {
	it.Provider = e.name
	it.Required = e.Required
	it = it.WithRelevance(it.Relevance)
	if t, err := ragctx.ParseContextType(string(it.Type)); err == nil {
		it.Type = t
	} else {
		it.Type = ragctx.TypeResource
	}
	it.Depth = depthOr(it.Depth, q.Depth)
	if _, err := it.Occurred.MarshalJSON(); err != nil {
		it.Occurred = time.Time{}
	}
	it.Metadata = encodable(it.Metadata)
	it.Signals = signals(q, it.Signals)
	return legible(it)
}

// metaHidden is the metadata key of the number of invisible characters that were removed from an
// item.
const metaHidden = "hidden_characters"

// legible returns an item with invisible characters removed from its texts, and plain line ends.
// In formats where lines begin with the speaker, other line breaks do not start a new line.
func legible(it ragctx.ContextItem) ragctx.ContextItem {
	show := func(text string) (string, int) {
		text, hidden := redact.Visible(text)
		return redact.Lines(text, xmlfmt.Indent(it.Type)), hidden
	}
	shown := func(forms []ragctx.Form) []ragctx.Form {
		forms = slices.Clone(forms)
		for i := range forms {
			forms[i].Text, _ = show(forms[i].Text)
		}
		return forms
	}
	var hidden int
	it.Content, hidden = show(it.Content)
	it.Forms.Wider.Text, _ = show(it.Forms.Wider.Text)
	it.Forms.Around, it.Forms.Shorter = shown(it.Forms.Around), shown(it.Forms.Shorter)
	if hidden > 0 {
		it.Metadata = maps.Clone(it.Metadata)
		if it.Metadata == nil {
			it.Metadata = make(map[string]any, 1)
		}
		it.Metadata[metaHidden] = hidden
	}
	return it
}

func depthOr(d, other ragctx.ContextDepth) ragctx.ContextDepth {
	if p, err := ragctx.ParseContextDepth(string(d)); err == nil && d != "" {
		return p
	}
	return other
}

func signals(q ragctx.ContextQuery, in map[string]float64) map[string]float64 {
	if !q.Explain || len(in) == 0 {
		return nil
	}
	out := make(map[string]float64, len(in))
	for k, v := range in {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[k] = ragctx.Rounded(v)
		}
	}
	return out
}

// encodable returns m without values that have no JSON form. One such value would make the whole
// answer fail to encode.
func encodable(m map[string]any) map[string]any {
	for _, v := range m {
		if unencodable(v) {
			m = maps.Clone(m)
			maps.DeleteFunc(m, func(_ string, v any) bool { return unencodable(v) })
			break
		}
	}
	return m
}

func unencodable(v any) bool {
	switch v := v.(type) {
	case nil, string, bool, int, int64:
		return false
	case float64:
		return math.IsNaN(v) || math.IsInf(v, 0)
	default:
		_, err := json.Marshal(v)
		return err != nil
	}
}

// claimedTokens is a rough size for ordering and reports: the provider's own count if it gave one,
// else a quarter of the bytes.
func claimedTokens(it ragctx.ContextItem) int {
	if it.TokenCount > 0 {
		return it.TokenCount
	}
	return (len(it.Content) + 3) / 4
}
