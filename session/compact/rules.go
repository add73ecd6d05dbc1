package compact

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// RulesIn returns the rules, decisions and dates in the records among messages, and the number of
// those that did not fit.
func RulesIn(messages []ragctx.Message) (rules []Rule, left int) {
	for _, m := range messages {
		if !session.IsRecord(m) {
			continue
		}
		d, _ := ParseDigest(m.Content[0].Text)
		rules, left = append(rules, d.Rules()...), left+d.LeftOut
	}
	return rules, left
}

// ActiveRules returns the rules that no later rule overrules, oldest first.
func ActiveRules(rules []Rule) []Rule {
	var list []statement
	for i, r := range rules {
		w := ruled
		switch r.Kind {
		case KindDecision:
			w = decided
		case KindDate:
			w = dated
		case KindRule:
		}
		if text := cleanStatement(r.Text); text != "" {
			list = append(list, statement{text: text, weight: w, message: i})
		}
	}
	list, _ = inForce(list)
	out := make([]Rule, len(list))
	for i, s := range list {
		out[i] = Rule{s.weight.kind(), s.text}
	}
	return out
}

// RulesDigest returns a digest of at most most rules and the number of omitted ones. Rules precede
// decisions and dates, and newer ones precede older ones.
func RulesDigest(rules []Rule, most int) (d Digest) {
	stays := make([]bool, len(rules))
	for _, kind := range [...]RuleKind{KindRule, KindDecision, KindDate} {
		for i, r := range slices.Backward(rules) {
			if r.Kind != kind {
				continue
			}
			if most--; most >= 0 {
				stays[i] = true
			} else {
				d.LeftOut++
			}
		}
	}
	for i, r := range rules {
		if stays[i] {
			d.AddRule(r)
		}
	}
	return d
}

// AddRule appends a rule to the list of its kind.
func (d *Digest) AddRule(r Rule) {
	list := &d.Constraints
	switch r.Kind {
	case KindDecision:
		list = &d.Decisions
	case KindDate:
		list = &d.Dates
	case KindRule:
	}
	*list = append(*list, strings.TrimSpace(r.Text))
}
