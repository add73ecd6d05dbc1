package compact

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
)

// Strategy is the method of shortening a conversation.
type Strategy string

// Strategies.
const (
	Auto       Strategy = "auto"       // prune old tool outputs, then summarize; the default
	LLM        Strategy = "llm"        // a summary by the model, or an extractive one if that fails
	Extractive Strategy = "extractive" // a summary of the conversation's own sentences
	Prune      Strategy = "prune"      // only prune old tool outputs
)

// StrategyNames returns the names of the strategies, the default first.
func StrategyNames() []string {
	return []string{string(Auto), string(Prune), string(LLM), string(Extractive)}
}

// Policy decides where a conversation is cut.
type Policy string

// Policies.
const (
	// Adaptive keeps at most half of the messages at the end, and fewer if the budget requires it.
	// It is the default.
	Adaptive Policy = "adaptive"
	// A3S follows the first version of A3S Code: it changes nothing up to 30 messages, otherwise
	// keeps the first 2 and the last 20 at any cost, and prunes nothing.
	A3S Policy = "a3s"
)

// PolicyNames returns the names of the policies, the default first.
func PolicyNames() []string { return []string{string(Adaptive), string(A3S)} }

// Defaults of [Options].
const (
	DefaultThreshold     = .8
	DefaultKeepFirst     = 2
	DefaultKeepLast      = 20
	DefaultWindow        = 200_000
	DefaultSummaryTokens = 8000
	DefaultTimeout       = time.Minute

	a3sMessages = 30
	// invalidThreshold replaces a threshold that is not a finite number.
	invalidThreshold, leastThreshold = .85, .05
	// targetShare is the size after a compaction as a share of the threshold.
	targetShare, leastLimit = .6, 512
)

// Options configure when and how conversations are compacted. The zero value is valid.
type Options struct {
	Policy   Policy
	Strategy Strategy
	// Threshold is the share of the window at which compaction is due, .05 to 1; 0 selects
	// [DefaultThreshold].
	Threshold float64
	// KeepFirst and KeepLast are the numbers of messages kept at both ends; 0 selects the default,
	// -1 means none. Fewer are kept if a call would be separated from its result.
	KeepFirst, KeepLast int
	// MinMessages is the number of messages up to which a conversation is not summarized; 0 means
	// none, and 30 for [A3S].
	MinMessages int
	// Window is the model's context window in tokens; 0 selects [DefaultWindow]. Fixed is the part
	// that each call needs for system prompt and tools.
	Window, Fixed int
	// SummaryTokens is the maximum cost of a summary; 0 selects [DefaultSummaryTokens].
	SummaryTokens int
	// Counter counts tokens; nil selects o200k_base.
	Counter ragctx.Counter
	// Generator writes summaries; without one they are extractive. Timeout bounds it; 0 selects
	// [DefaultTimeout].
	Generator llm.Generator
	Timeout   time.Duration

	Now   func() time.Time // clock of records; default: the system clock
	NewID func() string    // creates ids of records; default: random
}

// Due reports whether used tokens of a window of most reach the threshold. A window of 0 is never
// full.
func (o Options) Due(used, most int) bool {
	return most > 0 && float64(used)/float64(most) >= o.threshold()
}

// threshold returns the effective threshold.
func (o Options) threshold() float64 {
	t := cmp.Or(o.Threshold, DefaultThreshold)
	if math.IsNaN(t) || math.IsInf(t, 0) {
		return invalidThreshold
	}
	return min(max(t, leastThreshold), 1)
}

// Limit returns the tokens that messages may cost after a compaction: 60 % of the threshold minus
// Fixed, but at least 512 tokens if the threshold allows.
func (o Options) Limit() int {
	target := int(math.Floor(float64(cmp.Or(o.Window, DefaultWindow)) * o.threshold() * targetShare))
	return max(target-o.Fixed, min(target, leastLimit))
}

// Validate returns an [ragctx.ErrInvalid] for the first invalid option.
func (o Options) Validate() error {
	switch {
	case o.Policy != "" && !slices.Contains(PolicyNames(), string(o.Policy)):
		return ragctx.Invalid("policy", "%q is unknown; use one of %s", ragctx.Clip(string(o.Policy)), strings.Join(PolicyNames(), ", "))
	case o.Strategy != "" && !slices.Contains(StrategyNames(), string(o.Strategy)):
		return ragctx.Invalid("strategy", "%q is unknown; use one of %s", ragctx.Clip(string(o.Strategy)),
			strings.Join(StrategyNames(), ", "))
	case o.Strategy == LLM && o.Generator == nil:
		return ragctx.Invalid("strategy",
			"is llm, but no language model is configured; configure one (settings llm_url and llm_model), or use auto or extractive")
	case o.Threshold != 0 && !(o.Threshold >= leastThreshold && o.Threshold <= 1):
		return ragctx.Invalid("threshold", "is %v; use %v to 1", o.Threshold, leastThreshold)
	case o.KeepFirst < -1:
		return ragctx.Invalid("keep_first", "is %d; use 1 or more, or -1 for none", o.KeepFirst)
	case o.KeepLast < -1:
		return ragctx.Invalid("keep_last", "is %d; use 1 or more, or -1 for none", o.KeepLast)
	case o.MinMessages < 0:
		return ragctx.Invalid("min_messages", "is %d; use 0 or more", o.MinMessages)
	case o.Window < 0 || o.Window > ragctx.MaxTokensLimit:
		return ragctx.Invalid("window", "is %d; use 1 to %d tokens", o.Window, ragctx.MaxTokensLimit)
	case o.Fixed < 0 || o.Fixed > ragctx.MaxTokensLimit:
		return ragctx.Invalid("fixed", "is %d; use 0 to %d tokens", o.Fixed, ragctx.MaxTokensLimit)
	case o.SummaryTokens < 0 || o.SummaryTokens > DefaultSummaryTokens:
		return ragctx.Invalid("summary_tokens", "is %d; use 1 to %d", o.SummaryTokens, DefaultSummaryTokens)
	case o.Timeout < 0:
		return ragctx.Invalid("timeout", "is %v; use 0 for %v, or more", o.Timeout, DefaultTimeout)
	}
	return nil
}

// withDefaults fills in defaults.
func (o Options) withDefaults() (Options, error) {
	o.Policy = cmp.Or(o.Policy, Adaptive)
	o.Strategy = cmp.Or(o.Strategy, Auto)
	o.KeepFirst = max(cmp.Or(o.KeepFirst, DefaultKeepFirst), 0)
	o.KeepLast = max(cmp.Or(o.KeepLast, DefaultKeepLast), 0)
	if o.Policy == A3S {
		o.MinMessages = cmp.Or(o.MinMessages, a3sMessages)
	}
	o.Window = cmp.Or(o.Window, DefaultWindow)
	o.SummaryTokens = cmp.Or(o.SummaryTokens, DefaultSummaryTokens)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Counter == nil {
		c, err := tokens.New("o200k_base")
		if err != nil {
			return o, err
		}
		o.Counter = c
	}
	return o, nil
}

// scale returns the scale of the options' counter.
func (o Options) scale() session.Scale { return session.Scale{Counter: o.Counter} }
