package ragctx

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// ContextType is the kind of an item.
type ContextType string

// The context types. JSON uses these words; XML uses [ContextType.Label].
const (
	TypeMemory   ContextType = "memory"   // extracted from conversations
	TypeResource ContextType = "resource" // documents, files, code; the default
	TypeSkill    ContextType = "skill"    // a published procedure
)

// ParseContextType reads a type in any letter case. "file" and "custom" are aliases of
// [TypeResource].
func ParseContextType(s string) (ContextType, error) {
	switch t := ContextType(strings.ToLower(s)); t {
	case TypeMemory, TypeResource, TypeSkill:
		return t, nil
	case "file", "custom":
		return TypeResource, nil
	}
	return "", Invalid("context_types", "%q is not a context type; use memory, resource or skill", Clip(s))
}

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseContextType].
func (t *ContextType) UnmarshalText(b []byte) error {
	p, err := ParseContextType(string(b))
	if err == nil {
		*t = p
	}
	return err
}

// Label returns the type as XML writes it: Memory, Resource or Skill.
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

// ContextDepth is the amount of text that an item shows.
type ContextDepth string

// The depths, shortest first.
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

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseContextDepth].
func (d *ContextDepth) UnmarshalText(b []byte) error {
	p, err := ParseContextDepth(string(b))
	if err == nil {
		*d = p
	}
	return err
}

// Filter restricts a query to matching items. All set conditions must hold. The zero value matches
// everything.
type Filter struct {
	// Tags lists the tags that an item must carry, all of them.
	Tags []string `json:"tags,omitempty"`
	// Metadata lists the metadata keys and values that an item must have. Values are compared as
	// strings.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Sources lists sources, or prefixes of sources ending in "*". An item must match one of them.
	Sources []string `json:"sources,omitempty"`
	// OccurredAfter (inclusive) and OccurredBefore (exclusive) bound the item's Occurred.
	OccurredAfter  time.Time `json:"occurred_after,omitzero"`
	OccurredBefore time.Time `json:"occurred_before,omitzero"`
	// SessionID restricts memories to those of a session. Documents and procedures belong to no
	// session, and are not restricted.
	SessionID string `json:"session_id,omitempty"`
}

// IsZero reports whether f matches everything.
func (f Filter) IsZero() bool {
	return len(f.Tags) == 0 && len(f.Metadata) == 0 && len(f.Sources) == 0 &&
		f.OccurredAfter.IsZero() && f.OccurredBefore.IsZero() && f.SessionID == ""
}

// Clone returns a copy that shares no memory with f.
func (f Filter) Clone() Filter {
	f.Tags, f.Sources, f.Metadata = slices.Clone(f.Tags), slices.Clone(f.Sources), maps.Clone(f.Metadata)
	return f
}

// ContextQuery asks for the context of a prompt. Only Query has no default;
// [ContextQuery.WithDefaults] fills in the other fields.
type ContextQuery struct {
	// Query is the search text, usually the user's prompt. If it is empty, the most important and
	// most recent items are returned.
	Query string `json:"query"`
	// ContextTypes filters by type; empty means every type.
	ContextTypes []ContextType `json:"context_types"`
	Depth        ContextDepth  `json:"depth"`
	// MaxResults caps the results in the answer. MaxTokens caps the tokens of the whole rendered
	// string, tags included.
	MaxResults int `json:"max_results"`
	MaxTokens  int `json:"max_tokens"`

	// Namespace isolates tenants. UserID isolates the users of a namespace; without it only items
	// that belong to no user are visible. AgentID restricts memories to those of an agent; empty
	// means any. SessionID is the conversation that asks: its own providers are queried, and times
	// such as "last session" are counted from it. [Filter].SessionID restricts memories to a session.
	Namespace string `json:"namespace,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	AgentID   string `json:"agent_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`

	Filter Filter `json:"filter,omitzero"`
	// AsOf answers with the knowledge of that time. Now is the time of the query, from which ages
	// are computed; zero means the server's clock.
	AsOf time.Time `json:"as_of,omitzero"`
	Now  time.Time `json:"now,omitzero"`

	// Tokenizer counts the budget. Format names the renderer of the answer. Preset names a set of
	// caps, which explicit fields override.
	Tokenizer string `json:"tokenizer,omitempty"`
	Format    string `json:"format,omitempty"`
	Preset    string `json:"preset,omitempty"`
	// Queries are up to [MaxQueries] other wordings of Query, for example written by a model. Each
	// has half the weight of Query. Together with Query they are at most [MaxQueryBytes] long.
	Queries []string `json:"queries,omitempty"`
	// Messages is the conversation so far, newest last; it may include Query. If Query is a
	// follow-up, words of the conversation are added to the search.
	Messages []Message `json:"messages,omitempty"`
	// Exclude lists the ids of items that the model already has.
	Exclude []string `json:"exclude,omitempty"`
	// Shown lists the ids of the items that the model was shown last, in order. They keep their
	// places while their rank changes little, so that the prompt's cached prefix stays valid.
	Shown []string `json:"shown,omitempty"`
	// MinRelevance drops items with a lower relevance, 0 to 1. If it is nil, items below
	// [DefaultMinRelevance] are dropped, and items far below the best one are shortened to a
	// sentence.
	MinRelevance *float64 `json:"min_relevance,omitempty"`
	// Diversity, 0 to 1, is the weight of the penalty for items that repeat an earlier item. 0
	// ranks by relevance alone.
	Diversity float64 `json:"diversity,omitempty"`
	// Blocks splits the answer into a stable block, which stays the same from query to query, and
	// the rest. Without blocks, the user's standing wishes follow the results. StableTokens is the
	// limit of the stable block or of these wishes: 0 means a quarter of MaxTokens, -1 means none.
	Blocks       bool `json:"blocks,omitempty"`
	StableTokens int  `json:"stable_tokens,omitempty"`
	// Citations includes each item's id and, if known, its title, page and lines in the rendered
	// answer. Nil means true. False writes the tag of A3S, with only source and type.
	Citations *bool `json:"citations,omitempty"`
	// Spotlight marks each word of retrieved text, so that a model can distinguish it from
	// instructions.
	Spotlight bool `json:"spotlight,omitempty"`
	// Explain adds the score of each signal to the items. Exact makes the vector index search
	// exhaustively.
	Explain bool `json:"explain,omitempty"`
	Exact   bool `json:"exact,omitempty"`
	// Highlight adds [Highlights] for the words of Query and Queries to the items.
	Highlight bool `json:"highlight,omitempty"`
	// Params is passed to the providers unchanged.
	Params map[string]any `json:"params,omitempty"`

	// typesDefaulted says that NewQuery set ContextTypes. Such a default does not filter, because
	// it would hide every memory from a caller that chose no types.
	typesDefaulted bool
}

// NewQuery returns a query for text with the defaults: depth overview, 10 results, 4,000 tokens,
// and type resource, which does not filter until [ContextQuery.WithTypes] is called. A query read
// from JSON has the same defaults but no types.
func NewQuery(text string) ContextQuery {
	q := ContextQuery{Query: text, ContextTypes: []ContextType{TypeResource}, typesDefaulted: true}
	return q.WithDefaults()
}

// WithTypes returns q restricted to the given types.
func (q ContextQuery) WithTypes(types ...ContextType) ContextQuery {
	q.ContextTypes, q.typesDefaulted = slices.Clone(types), false
	return q
}

// WithDepth returns q with the given depth.
func (q ContextQuery) WithDepth(d ContextDepth) ContextQuery { q.Depth = d; return q }

// WithMaxResults returns q limited to n items.
func (q ContextQuery) WithMaxResults(n int) ContextQuery { q.MaxResults = n; return q }

// WithMaxTokens returns q limited to n tokens.
func (q ContextQuery) WithMaxTokens(n int) ContextQuery { q.MaxTokens = n; return q }

// WithSessionID returns q as asked in a session.
func (q ContextQuery) WithSessionID(id string) ContextQuery { q.SessionID = id; return q }

// WithParam returns q with an additional provider parameter. The map of q is not modified.
func (q ContextQuery) WithParam(key string, value any) ContextQuery {
	params := make(map[string]any, len(q.Params)+1)
	maps.Copy(params, q.Params)
	params[key] = value
	q.Params = params
	return q
}

// Wants reports whether q asks for items of type t.
func (q ContextQuery) Wants(t ContextType) bool {
	return q.typesDefaulted || len(q.ContextTypes) == 0 || slices.Contains(q.ContextTypes, t)
}

// LeastRelevance returns MinRelevance, or 0 if it is nil.
func (q ContextQuery) LeastRelevance() float64 {
	if q.MinRelevance == nil {
		return 0
	}
	return *q.MinRelevance
}

// WithDefaults returns q with every unset field filled in: depth overview, the caps of the preset
// (10 results and 4,000 tokens without one), the default namespace and tokenizer, and XML.
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

// UnmarshalJSON reads a query and fills in missing fields with [ContextQuery.WithDefaults]. An
// unknown field is an error.
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

// MarshalJSON writes a query. It omits types that only [NewQuery] set, because they would filter
// when read back.
func (q ContextQuery) MarshalJSON() ([]byte, error) {
	type plain ContextQuery
	if q.typesDefaulted || q.ContextTypes == nil {
		q.ContextTypes = []ContextType{}
	}
	return json.Marshal(plain(q))
}
