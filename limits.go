package ragctx

import (
	"strconv"
	"strings"
	"time"
)

// The defaults of a [ContextQuery] and the limits that [ContextQuery.Validate] enforces.
const (
	DefaultMaxResults = 10
	DefaultMaxTokens  = 4000
	DefaultTokenizer  = "o200k_base"
	DefaultNamespace  = "default"
	// DefaultMinRelevance is the minimum relevance of an answer's items if the query sets none. It
	// was chosen by measurement; see the table in docs/retrieval.md.
	DefaultMinRelevance = 0.02

	MaxQueryBytes   = 64 << 10 // total of Query and Queries
	MaxQueries      = 8
	MaxResultsLimit = 1000
	MaxTokensLimit  = 10_000_000
	MaxFilterValues = 256
	MaxNameBytes    = 512 // namespaces, users, agents, sessions, external ids, tags
)

// Caps are the limits of one answer: the totals, and the limits of each source while another source
// still has candidates.
type Caps struct {
	MaxResults, MaxTokens                   int
	MaxResultsPerSource, MaxTokensPerSource int
}

var presets = map[string]Caps{
	"":          {12, 4000, 6, 2500},
	"balanced":  {12, 4000, 6, 2500},
	"compact":   {8, 2500, 4, 1200},
	"expansive": {20, 8000, 8, 3500},
}

// PresetNames returns the valid values of [ContextQuery].Preset, sorted.
func PresetNames() []string { return []string{"balanced", "compact", "expansive"} }

// Caps returns the limits of the answer to q: its own totals and the per-source limits of its
// preset ("balanced" by default). For a smaller answer the per-source limits shrink in proportion,
// so that no source fills it while others have candidates.
func (q ContextQuery) Caps() Caps {
	q = q.WithDefaults()
	c := presets[q.Preset]
	c.MaxResultsPerSource = min(c.MaxResultsPerSource, share(q.MaxResults, c.MaxResultsPerSource, c.MaxResults))
	c.MaxTokensPerSource = min(c.MaxTokensPerSource, share(q.MaxTokens, c.MaxTokensPerSource, c.MaxTokens))
	c.MaxResults, c.MaxTokens = q.MaxResults, q.MaxTokens
	return c
}

// share returns part/whole of n, rounded up.
func share(n, part, whole int) int { return (n*part + whole - 1) / whole }

// stableShare is the divisor of MaxTokens that gives the default limit of the stable block.
const stableShare = 4

// StableBudget returns the token limit of what belongs in every answer to the scope of q.
func (q ContextQuery) StableBudget() int {
	switch {
	case q.StableTokens < 0:
		return 0
	case q.StableTokens == 0:
		return q.WithDefaults().MaxTokens / stableShare
	default:
		return min(q.StableTokens, q.WithDefaults().MaxTokens)
	}
}

// Validate checks q against the documented limits. Its defaults must be filled in. The error is
// [ErrInvalid] and names the field, the limit and the remedy.
func (q ContextQuery) Validate() error {
	switch {
	case len(q.Query) > MaxQueryBytes:
		return Invalid("query", "is %d bytes long; the limit is %d: send the question, not the document",
			len(q.Query), MaxQueryBytes)
	case q.MaxResults < 1 || q.MaxResults > MaxResultsLimit:
		return Invalid("max_results", "is %d; use 1 to %d", q.MaxResults, MaxResultsLimit)
	case q.MaxTokens < 1 || q.MaxTokens > MaxTokensLimit:
		return Invalid("max_tokens", "is %d; use 1 to %d", q.MaxTokens, MaxTokensLimit)
	case q.StableTokens < -1 || q.StableTokens > MaxTokensLimit:
		return Invalid("stable_tokens", "is %d; use 1 to %d, or -1 for none", q.StableTokens, MaxTokensLimit)
	case !(q.LeastRelevance() >= 0 && q.LeastRelevance() <= 1):
		return Invalid("min_relevance", "is %v; use 0 to 1", q.LeastRelevance())
	case !(q.Diversity >= 0 && q.Diversity <= 1):
		return Invalid("diversity", "is %v; use 0 to 1", q.Diversity)
	case q.Preset != "" && presets[q.Preset].MaxResults == 0:
		return Invalid("preset", "%q is unknown; use %s", Clip(q.Preset), strings.Join(PresetNames(), ", "))
	case len(q.Exclude) > MaxResultsLimit:
		return Invalid("exclude", "lists %d ids; the limit is %d", len(q.Exclude), MaxResultsLimit)
	case len(q.Shown) > MaxResultsLimit:
		return Invalid("shown", "lists %d ids; the limit is %d", len(q.Shown), MaxResultsLimit)
	case len(q.Filter.Tags) > MaxFilterValues, len(q.Filter.Metadata) > MaxFilterValues, len(q.Filter.Sources) > MaxFilterValues:
		return Invalid("filter", "has more than %d values in one list", MaxFilterValues)
	case !q.Filter.OccurredBefore.IsZero() && !q.Filter.OccurredAfter.Before(q.Filter.OccurredBefore):
		return Invalid("filter.occurred_before", "is not after occurred_after; nothing could match")
	}
	if _, err := ParseContextDepth(string(q.Depth)); err != nil {
		return err
	}
	for _, t := range q.ContextTypes {
		if _, err := ParseContextType(string(t)); err != nil {
			return err
		}
	}
	if err := q.validTexts(); err != nil {
		return err
	}
	for _, f := range [...]struct {
		field string
		value time.Time
	}{
		{"as_of", q.AsOf},
		{"now", q.Now},
		{"filter.occurred_after", q.Filter.OccurredAfter},
		{"filter.occurred_before", q.Filter.OccurredBefore},
	} {
		if err := ValidTime(f.field, f.value); err != nil {
			return err
		}
	}
	for _, f := range [...]struct{ field, value string }{
		{"namespace", q.Namespace},
		{"user_id", q.UserID},
		{"agent_id", q.AgentID},
		{"session_id", q.SessionID},
		{"filter.session_id", q.Filter.SessionID},
	} {
		if err := ValidName(f.field, f.value); err != nil {
			return err
		}
	}
	return nil
}

// validTexts checks Query and Queries.
func (q ContextQuery) validTexts() error {
	if err := ValidText("query", q.Query); err != nil {
		return err
	}
	switch {
	case len(q.Queries) > MaxQueries:
		return Invalid("queries", "lists %d wordings; the limit is %d", len(q.Queries), MaxQueries)
	case len(q.Queries) > 0 && q.Query == "":
		return Invalid("queries", "need a query, which is empty; make one of them the query")
	}
	total := len(q.Query)
	for i, text := range q.Queries {
		field := "queries[" + strconv.Itoa(i) + "]"
		if text == "" {
			return Invalid(field, "is empty; leave it out")
		}
		if err := ValidText(field, text); err != nil {
			return err
		}
		total += len(text)
	}
	if len(q.Queries) > 0 && total > MaxQueryBytes {
		return Invalid("queries", "are, with the query, %d bytes long; the limit is %d: send questions, not documents",
			total, MaxQueryBytes)
	}
	return nil
}
