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
		i, tokens = e.cheapest(math.MaxInt)
	}
	s.take(e, i, tokens)
}

// try includes e if possible. Otherwise it returns the reason.
func (s *selector) try(e *entry, capped bool) Reason {
	if s.full() {
		return ReasonMaxItems
	}
	left := math.MaxInt
	if capped {
		left = s.left(e.Source)
	}
	if left <= 0 {
		e.held = true
		return ReasonSourceCap // before anything is counted
	}
	limit := min(s.remaining, left)
	i, tokens, ok := e.longest(limit)
	e.held = limit < s.remaining && (!ok || i > e.Preferred)
	if ok {
		s.take(e, i, tokens)
		return ""
	}
	if e.held {
		if _, _, fits := e.longest(s.remaining); fits {
			return ReasonSourceCap
		}
	}
	return ReasonBudget
}

// left returns the tokens that a source may still use: any number for its first candidate.
func (s *selector) left(source string) int {
	used := s.shares[source]
	switch {
	case used.items == 0:
		return math.MaxInt
	case s.opts.MaxItemsPerSource > 0 && used.items >= s.opts.MaxItemsPerSource:
		return 0
	case s.opts.MaxTokensPerSource > 0:
		return max(s.opts.MaxTokensPerSource-used.tokens, 0)
	}
	return math.MaxInt
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

// refill spends the rest of the budget on the candidates that the share of their source held back or shortened: first
// each gets its cheapest variant, then each in turn the longest that fits.
func (s *selector) refill() {
	for _, e := range s.entries {
		if !e.held || e.included || s.full() || s.remaining <= 0 {
			continue
		}
		if i, tokens := e.cheapest(s.remaining); i >= 0 {
			s.take(e, i, tokens)
		}
	}
	for _, e := range s.entries {
		if !e.held || !e.included {
			continue
		}
		if i, tokens, ok := e.longest(s.room(e)); ok && i < e.variant {
			s.grow(e, i, tokens)
		}
	}
}

// full reports whether there are as many items as may be.
func (s *selector) full() bool { return s.opts.MaxItems > 0 && s.items >= s.opts.MaxItems }

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
		limit := s.room(e)
		for i := range e.Preferred {
			if tokens, ok := e.fits(i, limit); ok {
				s.grow(e, i, tokens)
				break
			}
		}
	}
}

// room returns the tokens that an included candidate may have.
func (s *selector) room(e *entry) int {
	if s.opts.MaxTokens <= 0 {
		return math.MaxInt
	}
	return s.remaining + e.tokens
}

// grow replaces the variant of an included candidate by a longer one.
func (s *selector) grow(e *entry, i, tokens int) {
	if s.opts.MaxTokens > 0 {
		s.remaining += e.tokens - tokens
	}
	e.use(i, tokens)
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
