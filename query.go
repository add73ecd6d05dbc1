package ragctx

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// Defaults of a [ContextQuery] and the limits that [ContextQuery.Validate] holds it to.
const (
	DefaultMaxResults = 10
	DefaultMaxTokens  = 4000
	DefaultTokenizer  = "o200k_base"
	DefaultNamespace  = "default"

	MaxQueryBytes   = 64 << 10 // of the query and its other wordings together
	MaxQueries      = 8
	MaxResultsLimit = 1000
	MaxTokensLimit  = 10_000_000
	MaxFilterValues = 256
	MaxNameBytes    = 512 // namespaces, users, agents, sessions, external ids, tags
)

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
	// MinRelevance drops items below it, 0 to 1.
	MinRelevance float64 `json:"min_relevance,omitempty"`
	// Diversity, 0 to 1, is how much it counts against an item that it says what
	// one before it says; 0 chooses by relevance alone.
	Diversity float64 `json:"diversity,omitempty"`
	// Blocks splits the answer into a part that stays the same from query to query, of at
	// most StableTokens, and the rest. 0 tokens are a quarter of MaxTokens, -1 is none.
	Blocks       bool `json:"blocks,omitempty"`
	StableTokens int  `json:"stable_tokens,omitempty"`
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

// Caps returns the limits of q's answer: its own counts, and the per-source
// shares of its preset (balanced when it names none). A smaller answer has
// smaller shares, in the preset's proportion, so that no source can take all of
// it while another has something to offer.
func (q ContextQuery) Caps() Caps {
	q = q.WithDefaults()
	c := presets[q.Preset]
	c.MaxResultsPerSource = min(c.MaxResultsPerSource, share(q.MaxResults, c.MaxResultsPerSource, c.MaxResults))
	c.MaxTokensPerSource = min(c.MaxTokensPerSource, share(q.MaxTokens, c.MaxTokensPerSource, c.MaxTokens))
	c.MaxResults, c.MaxTokens = q.MaxResults, q.MaxTokens
	return c
}

// stableShare is the part of MaxTokens that the stable block has at most unless the query
// says otherwise: one in so many.
const stableShare = 4

// StableBudget returns the most tokens of the stable block of q's answer.
func (q ContextQuery) StableBudget() int {
	switch {
	case !q.Blocks || q.StableTokens < 0:
		return 0
	case q.StableTokens == 0:
		return q.WithDefaults().MaxTokens / stableShare
	default:
		return min(q.StableTokens, q.WithDefaults().MaxTokens)
	}
}

// share returns part/whole of n, rounded up.
func share(n, part, whole int) int { return (n*part + whole - 1) / whole }

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

// Validate checks q, whose defaults are filled in, against the documented
// limits. The error names the field, the limit and the remedy, and is [ErrInvalid].
func (q ContextQuery) Validate() error {
	switch {
	case len(q.Query) > MaxQueryBytes:
		return Invalid("query", "is %d bytes long; the limit is %d: send the question, not the document", len(q.Query), MaxQueryBytes)
	case q.MaxResults < 1 || q.MaxResults > MaxResultsLimit:
		return Invalid("max_results", "is %d; use 1 to %d", q.MaxResults, MaxResultsLimit)
	case q.MaxTokens < 1 || q.MaxTokens > MaxTokensLimit:
		return Invalid("max_tokens", "is %d; use 1 to %d", q.MaxTokens, MaxTokensLimit)
	case q.StableTokens < -1 || q.StableTokens > MaxTokensLimit:
		return Invalid("stable_tokens", "is %d; use 1 to %d, or -1 for none", q.StableTokens, MaxTokensLimit)
	case !(q.MinRelevance >= 0 && q.MinRelevance <= 1):
		return Invalid("min_relevance", "is %v; use 0 to 1", q.MinRelevance)
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
		{"namespace", q.Namespace}, {"user_id", q.UserID}, {"agent_id", q.AgentID}, {"session_id", q.SessionID},
	} {
		if err := ValidName(f.field, f.value); err != nil {
			return err
		}
	}
	return nil
}

// validTexts checks the question and its other wordings.
func (q ContextQuery) validTexts() error {
	if err := ValidText("query", q.Query); err != nil {
		return err
	}
	switch {
	case len(q.Queries) > MaxQueries:
		return Invalid("queries", "lists %d wordings; the limit is %d", len(q.Queries), MaxQueries)
	case len(q.Queries) > 0 && q.Query == "":
		return Invalid("queries", "come beside a query, which is empty; make one of them the query")
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
		return Invalid("queries", "are, with the query, %d bytes long; the limit is %d: send questions, not documents", total, MaxQueryBytes)
	}
	return nil
}

// ValidName checks an identifier chosen by a caller: valid UTF-8 without NUL,
// at most [MaxNameBytes]. Empty is valid.
func ValidName(field, s string) error {
	if len(s) > MaxNameBytes {
		return Invalid(field, "is %d bytes long; the limit is %d", len(s), MaxNameBytes)
	}
	return ValidText(field, s)
}

// ValidText checks that s is valid UTF-8 and holds no NUL byte.
func ValidText(field, s string) error {
	if !utf8.ValidString(s) {
		return Invalid(field, "is not valid UTF-8; convert the text before sending it")
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return Invalid(field, "has a NUL byte at offset %d; remove it", i)
	}
	return nil
}

// ValidTime checks that t can be written as RFC 3339: a year of four digits, in
// UTC. The zero time is valid.
func ValidTime(field string, t time.Time) error {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return Invalid(field, "is in the year %d; use 1 to 9999", y)
	}
	return nil
}

// Clip shortens s for an error message: at most 60 characters, no line breaks.
func Clip(s string) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) > 60 {
		r = append(r[:57], '.', '.', '.')
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' {
			return ' '
		}
		return c
	}, string(r))
}

// Caps are the limits of one answer: in all, and per source while another
// source still has candidates.
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

// PresetNames returns the names that [ContextQuery].Preset takes, sorted.
func PresetNames() []string { return []string{"balanced", "compact", "expansive"} }

// ValidMetadata checks that metadata can be stored: valid keys, JSON values, at
// most limit bytes in all.
func ValidMetadata(field string, m map[string]any, limit int) error {
	for k := range m {
		if k == "" {
			return Invalid(field, "has an empty key; name it")
		}
		if err := ValidName(field+"."+Clip(k), k); err != nil {
			return err
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return Invalid(field, "cannot be written as JSON: %v", err)
	}
	if len(b) > limit {
		return Invalid(field, "is %d bytes of JSON; the limit is %d", len(b), limit)
	}
	if bytes.Contains(b, []byte(`\u0000`)) {
		return Invalid(field, "has a NUL character; remove it")
	}
	return nil
}
