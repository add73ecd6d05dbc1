package budget

import (
	"math"
	"slices"
)

// Select decides which candidates are included, and as which variant. The result depends only on
// the candidates and options. It does not depend on the order of the candidates, as long as no two
// share both Order and ID.
func Select(cands []Candidate, opts Options) Selection {
	ordered := inOrder(newEntries(cands))
	s := selector{
		opts:      opts,
		ordered:   ordered,
		entries:   byTurn(ordered),
		remaining: math.MaxInt,
		shares:    make(map[string]share),
	}
	if opts.MaxTokens > 0 {
		s.remaining = opts.MaxTokens
	}
	s.place()
	s.refill()
	s.widen()
	guard := s.guard()
	return s.selection(guard)
}

type selector struct {
	opts      Options
	ordered   []*entry
	entries   []*entry // the same, by priority
	remaining int
	over      int
	items     int
	shares    map[string]share
}

// share is the use of a source.
type share struct{ items, tokens int }

// place tries to include every candidate.
func (s *selector) place() {
	capped := s.severalSources()
	for _, e := range s.entries {
		switch {
		case e.empty():
			e.reason = ReasonEmpty
		case e.Required && s.opts.RequiredMayExceed:
			s.force(e)
		default:
			e.reason = s.try(e, capped && !e.Required)
		}
		if e.reason == ReasonBudget && (e.Required || s.items == 0) {
			s.cut(e) // a worse candidate must not replace the best one
		}
	}
}

func (s *selector) severalSources() bool {
	if s.opts.MaxTokensPerSource <= 0 && s.opts.MaxItemsPerSource <= 0 {
		return false
	}
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.Source != s.entries[0].Source })
}

// force includes e with its longest variant that fits, or else the cheapest one.
func (s *selector) force(e *entry) {
	i, tokens, ok := e.longest(s.remaining)
	if !ok {
		i, tokens = e.cheapest()
	}
	s.take(e, i, tokens)
}

// try includes e if possible. Otherwise it returns the reason.
func (s *selector) try(e *entry, capped bool) Reason {
	if s.opts.MaxItems > 0 && s.items >= s.opts.MaxItems {
		return ReasonMaxItems
	}
	if capped && s.exhausted(e.Source, 0) {
		return ReasonSourceCap // before anything is counted
	}
	i, tokens, ok := e.longest(s.remaining)
	if !ok {
		return ReasonBudget
	}
	if capped && s.exhausted(e.Source, tokens) {
		return ReasonSourceCap
	}
	s.take(e, i, tokens)
	return ""
}

// exhausted reports whether more tokens would exceed the share of a source.
func (s *selector) exhausted(source string, more int) bool {
	used := s.shares[source]
	if used.items == 0 {
		return false
	}
	return s.opts.MaxItemsPerSource > 0 && used.items >= s.opts.MaxItemsPerSource ||
		s.opts.MaxTokensPerSource > 0 && used.tokens+more > s.opts.MaxTokensPerSource
}

func (s *selector) take(e *entry, i, tokens int) {
	e.use(i, tokens)
	s.charge(e)
}

func (s *selector) charge(e *entry) {
	s.items++
	used := s.shares[e.Source]
	s.shares[e.Source] = share{used.items + 1, used.tokens + e.tokens}
	if s.opts.MaxTokens > 0 {
		s.over += max(0, e.tokens-s.remaining)
		s.remaining = max(0, s.remaining-e.tokens)
	}
}

// refill offers the rest of the budget to the candidates that only the share of their source held
// back.
func (s *selector) refill() {
	for _, e := range s.entries {
		if e.reason == ReasonSourceCap {
			if s.try(e, false) == "" {
				e.reason = ""
			}
		}
	}
}

func (s *selector) cut(e *entry) {
	if e.Cut == nil || s.remaining <= 0 {
		return
	}
	text, tokens := e.Cut(s.remaining)
	if text == "" || tokens > s.remaining {
		return
	}
	tokens = max(tokens, 0)
	e.included, e.reason, e.truncated = true, "", true
	e.setText(text, -1, tokens)
	s.charge(e)
}

// widen spends the rest of the budget on variants longer than the preferred ones.
func (s *selector) widen() {
	if s.over > 0 {
		return
	}
	for _, e := range s.entries {
		if !e.included || e.variant < 0 || e.variant > e.Preferred {
			continue
		}
		limit := math.MaxInt
		if s.opts.MaxTokens > 0 {
			limit = s.remaining + e.tokens
		}
		for i := range e.Preferred {
			if tokens, ok := e.fits(i, limit); ok {
				if s.opts.MaxTokens > 0 {
					s.remaining = limit - tokens
				}
				e.use(i, tokens)
				break
			}
		}
	}
}

func (s *selector) selection(guard Guard) Selection {
	out := Selection{Decisions: make([]Decision, len(s.entries)), MaxChars: guard}
	out.Budget = Budget{MaxTokens: max(s.opts.MaxTokens, 0), OverBudgetTokens: s.over}
	if s.opts.MaxTokens > 0 {
		out.Budget.RemainingTokens = &s.remaining
	}
	for i, e := range s.ordered {
		out.Decisions[i] = e.decision()
		out.Budget.UsedTokens += e.tokens
	}
	return out
}
