package ragctx

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// ContextType says what kind of thing an item is.
type ContextType string

// The context types. JSON carries these words; XML carries [ContextType.Label].
const (
	TypeMemory   ContextType = "memory"   // something remembered from conversations
	TypeResource ContextType = "resource" // documents, files, code; the default
	TypeSkill    ContextType = "skill"    // a published procedure
)

// ParseContextType reads a type in any letter case. "file" and "custom" are
// accepted as other names of [TypeResource].
func ParseContextType(s string) (ContextType, error) {
	switch t := ContextType(strings.ToLower(s)); t {
	case TypeMemory, TypeResource, TypeSkill:
		return t, nil
	case "file", "custom":
		return TypeResource, nil
	}
	return "", Invalid("context_types", "%q is not a context type; use memory, resource or skill", Clip(s))
}

// UnmarshalText implements [encoding.TextUnmarshaler] by [ParseContextType].
func (t *ContextType) UnmarshalText(b []byte) error {
	p, err := ParseContextType(string(b))
	if err == nil {
		*t = p
	}
	return err
}

// Label returns the type as XML shows it: Memory, Resource or Skill.
func (t ContextType) Label() string {
	switch t {
	case TypeMemory:
		return "Memory"
	case TypeSkill:
		return "Skill"
	default:
		return "Resource"
	}
}

// ContextDepth says how much of a hit an item shows.
type ContextDepth string

// The depths, from short to long.
const (
	DepthAbstract ContextDepth = "abstract" // the gist, about 100 tokens
	DepthOverview ContextDepth = "overview" // the passage, at most 2,000 characters; the default
	DepthFull     ContextDepth = "full"     // the enclosing section or the whole text
)

// ParseContextDepth reads a depth in any letter case; "" is [DepthOverview].
// The A3S names L0, L1 and L2 are accepted.
func ParseContextDepth(s string) (ContextDepth, error) {
	switch d := ContextDepth(strings.ToLower(s)); d {
	case DepthAbstract, DepthOverview, DepthFull:
		return d, nil
	case "":
		return DepthOverview, nil
	case "l0":
		return DepthAbstract, nil
	case "l1":
		return DepthOverview, nil
	case "l2":
		return DepthFull, nil
	}
	return "", Invalid("depth", "%q is not a depth; use abstract, overview or full", Clip(s))
}

// UnmarshalText implements [encoding.TextUnmarshaler] by [ParseContextDepth].
func (d *ContextDepth) UnmarshalText(b []byte) error {
	p, err := ParseContextDepth(string(b))
	if err == nil {
		*d = p
	}
	return err
}

// Filter narrows a query to matching items. All given conditions must hold; the
// zero value matches everything.
type Filter struct {
	// Tags lists tags of which an item must carry all.
	Tags []string `json:"tags,omitempty"`
	// Metadata lists keys and the value an item's metadata must have there.
	// Values are compared as strings.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Sources lists sources or prefixes of sources ending in "*"; an item must match one.
	Sources []string `json:"sources,omitempty"`
	// OccurredAfter and OccurredBefore bound when the thing happened, after
	// inclusive, before exclusive.
	OccurredAfter  time.Time `json:"occurred_after,omitzero"`
	OccurredBefore time.Time `json:"occurred_before,omitzero"`
}

// IsZero reports whether f matches everything.
func (f Filter) IsZero() bool {
	return len(f.Tags) == 0 && len(f.Metadata) == 0 && len(f.Sources) == 0 &&
		f.OccurredAfter.IsZero() && f.OccurredBefore.IsZero()
}

// Clone returns a copy that shares no memory with f.
func (f Filter) Clone() Filter {
	f.Tags, f.Sources, f.Metadata = slices.Clone(f.Tags), slices.Clone(f.Sources), maps.Clone(f.Metadata)
	return f
}

// ContextQuery asks what a model should see. The zero value of every field but
// Query works; [ContextQuery.WithDefaults] says what it stands for.
type ContextQuery struct {
	// Query is the search text, usually the user's prompt. Empty asks for the
	// most important and most recent items.
	Query string `json:"query"`
	// ContextTypes filters by type; empty means every type.
	ContextTypes []ContextType `json:"context_types"`
	Depth        ContextDepth  `json:"depth"`
	// MaxResults and MaxTokens cap the answer: items, and tokens of the whole
	// rendered string, tags included.
	MaxResults int `json:"max_results"`
	MaxTokens  int `json:"max_tokens"`

	// Namespace is a wall between tenants. UserID is one between the users of a
	// namespace: without it only items that belong to no user are seen.
	// SessionID and AgentID narrow memories; empty means any.
	Namespace string `json:"namespace,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	AgentID   string `json:"agent_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`

	Filter Filter `json:"filter,omitzero"`
	// AsOf answers from what was known at that time. Now is the time of asking,
	// from which ages are counted; zero means the server's clock.
	AsOf time.Time `json:"as_of,omitzero"`
	Now  time.Time `json:"now,omitzero"`

	// Tokenizer counts the budget; Format renders the answer; Preset chooses a
	// set of caps that explicit fields override.
	Tokenizer string `json:"tokenizer,omitempty"`
	Format    string `json:"format,omitempty"`
	Preset    string `json:"preset,omitempty"`
	// Queries are other wordings of Query, as a model may write them, at most
	// [MaxQueries] and together with Query at most [MaxQueryBytes]. Each counts half.
	Queries []string `json:"queries,omitempty"`
	// Messages is the conversation so far, newest last; Query may be the last of
	// them. A question that leans on it is searched with words of it.
	Messages []Message `json:"messages,omitempty"`
	// Exclude lists ids of items the model already has.
	Exclude []string `json:"exclude,omitempty"`
	// Shown lists ids of items that the model was shown, in order. They keep their places
	// while their rank changes little, so that what follows them in a prompt comes from its
	// cache.
	Shown []string `json:"shown,omitempty"`
	// MinRelevance drops items below it, 0 to 1. Nil leaves it to ragctx: an answer has no
	// items below [DefaultMinRelevance], and of those that are far behind its best one a
	// sentence each.
	MinRelevance *float64 `json:"min_relevance,omitempty"`
	// Diversity, 0 to 1, is how much it counts against an item that it says what
	// one before it says; 0 chooses by relevance alone.
	Diversity float64 `json:"diversity,omitempty"`
	// Blocks splits the answer into a part that stays the same from query to query, of at
	// most StableTokens, and the rest. 0 tokens are a quarter of MaxTokens, -1 is none.
	Blocks       bool `json:"blocks,omitempty"`
	StableTokens int  `json:"stable_tokens,omitempty"`
	// Citations has the rendered answer say each item's id and, where they are known, its
	// title, page and lines. Nil is yes; false leaves A3S's tag, with source and type alone.
	Citations *bool `json:"citations,omitempty"`
	// Spotlight marks retrieved text word by word, so that a model can tell it from
	// instructions.
	Spotlight bool `json:"spotlight,omitempty"`
	// Explain adds per-signal scores to the items; Exact asks the vector leg for
	// an exhaustive search.
	Explain bool `json:"explain,omitempty"`
	Exact   bool `json:"exact,omitempty"`
	// Highlight adds to the items where their content has the words of Query and Queries.
	Highlight bool `json:"highlight,omitempty"`
	// Params is passed to providers as it is.
	Params map[string]any `json:"params,omitempty"`

	// typesDefaulted marks ContextTypes as put there by NewQuery. Such a default
	// does not filter: it would hide every memory from a caller who said nothing.
	typesDefaulted bool
}

// NewQuery returns a query for text with the constructor defaults: type
// resource (which does not filter until [ContextQuery.WithTypes] is called),
// depth overview, 10 results, 4,000 tokens. A query read from JSON has the same
// defaults but no types.
func NewQuery(text string) ContextQuery {
	q := ContextQuery{Query: text, ContextTypes: []ContextType{TypeResource}, typesDefaulted: true}
	return q.WithDefaults()
}

// WithTypes returns q asking for the given types only.
func (q ContextQuery) WithTypes(types ...ContextType) ContextQuery {
	q.ContextTypes, q.typesDefaulted = slices.Clone(types), false
	return q
}

// WithDepth returns q with the given depth.
func (q ContextQuery) WithDepth(d ContextDepth) ContextQuery { q.Depth = d; return q }

// WithMaxResults returns q capped to n items.
func (q ContextQuery) WithMaxResults(n int) ContextQuery { q.MaxResults = n; return q }

// WithMaxTokens returns q capped to n tokens.
func (q ContextQuery) WithMaxTokens(n int) ContextQuery { q.MaxTokens = n; return q }

// WithSessionID returns q narrowed to a session.
func (q ContextQuery) WithSessionID(id string) ContextQuery { q.SessionID = id; return q }

// WithParam returns q with one more provider parameter; q's own map is not changed.
func (q ContextQuery) WithParam(key string, value any) ContextQuery {
	params := make(map[string]any, len(q.Params)+1)
	maps.Copy(params, q.Params)
	params[key] = value
	q.Params = params
	return q
}

// Wants reports whether items of type t are asked for.
func (q ContextQuery) Wants(t ContextType) bool {
	return q.typesDefaulted || len(q.ContextTypes) == 0 || slices.Contains(q.ContextTypes, t)
}

// LeastRelevance is the MinRelevance that q names, or 0.
func (q ContextQuery) LeastRelevance() float64 {
	if q.MinRelevance == nil {
		return 0
	}
	return *q.MinRelevance
}

// WithDefaults returns q with every unset field filled: depth overview, the
// caps of the preset if one is named and 10 results and 4,000 tokens otherwise,
// the default namespace and tokenizer, and XML.
func (q ContextQuery) WithDefaults() ContextQuery {
	results, tokens := DefaultMaxResults, DefaultMaxTokens
	if p, ok := presets[q.Preset]; ok && q.Preset != "" {
		results, tokens = p.MaxResults, p.MaxTokens
	}
	if q.MaxResults == 0 {
		q.MaxResults = results
	}
	if q.MaxTokens == 0 {
		q.MaxTokens = tokens
	}
	if q.Depth == "" {
		q.Depth = DepthOverview
	}
	if q.Namespace == "" {
		q.Namespace = DefaultNamespace
	}
	if q.Tokenizer == "" {
		q.Tokenizer = DefaultTokenizer
	}
	if q.Format == "" {
		q.Format = "xml"
	}
	return q
}

// UnmarshalJSON reads a query strictly (an unknown field is an error) and fills
// what is missing by [ContextQuery.WithDefaults].
func (q *ContextQuery) UnmarshalJSON(b []byte) error {
	type plain ContextQuery
	var p plain
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return err
	}
	*q = ContextQuery(p).WithDefaults()
	return nil
}

// MarshalJSON writes a query. Types that only [NewQuery] put there are left out:
// read back, they would filter.
func (q ContextQuery) MarshalJSON() ([]byte, error) {
	type plain ContextQuery
	if q.typesDefaulted || q.ContextTypes == nil {
		q.ContextTypes = []ContextType{}
	}
	return json.Marshal(plain(q))
}
