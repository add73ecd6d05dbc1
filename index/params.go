package index

import (
	"cmp"

	"github.com/ragctx/ragctx"
)

// UnseenTexts is added to the number of texts of a collection when a word is weighed, as texts that lack the word. In a
// small collection all texts may have the word that a question asks for, and it would count for nothing.
const UnseenTexts = 4

// KeywordParams are the parameters of the keyword score; package keyword has the formula. They
// apply at query time: other values need no reindexing.
//
// A value of 0 means the default. A negative weight means none: that part is not evaluated. K1 and
// B cannot be disabled.
type KeywordParams struct {
	// K1 controls how slowly repetition saturates, up to 1,000; 1.2 by default.
	K1 float64 `json:"k1,omitempty" minimum:"0" maximum:"1000" doc:"how slowly repetition saturates; 1.2 by default"`
	// B controls the influence of length, up to 1; 0.9 by default.
	B float64 `json:"b,omitempty" minimum:"0" maximum:"1" doc:"influence of length; 0.9 by default"`
	// Pairs and Grams are the weights of word pairs and of letter n-grams relative to a word's 1,
	// up to 100; 0.2 by default. Without grams no misspelt word is found.
	Pairs float64 `json:"pairs,omitempty" minimum:"-100" maximum:"100"`
	Grams float64 `json:"grams,omitempty" minimum:"-100" maximum:"100" doc:"weight of runs of four letters; 0.2 by default"`
	// Passage is the weight of a chunk's own score relative to 1 for the text that it is part of,
	// up to 100; 0.5 by default. Without it all matching chunks of a text score alike.
	Passage float64 `json:"passage,omitempty" minimum:"-100" maximum:"100"`
	// Opening is the extra weight of a question's word that occurs in a text's title or among its
	// first 40 words, regardless of how often; up to 100, 0.15 by default. A text states its
	// subject at the beginning.
	Opening float64 `json:"opening,omitempty" minimum:"-100" maximum:"100"`
}

// Limits of [KeywordParams].
const (
	maxK1 = 1000
	maxB  = 1
)

// param is a parameter with its limits.
type param struct {
	name    string
	value   *float64
	Default float64
	most    float64
	weight  bool // may be negative, for none
}

func (p *KeywordParams) all() [6]param {
	return [...]param{
		{"k1", &p.K1, 1.2, maxK1, false},
		{"b", &p.B, 0.9, maxB, false},
		{"pairs", &p.Pairs, 0.2, MaxWeight, true},
		{"grams", &p.Grams, 0.2, MaxWeight, true},
		{"passage", &p.Passage, 0.5, MaxWeight, true},
		{"opening", &p.Opening, 0.15, MaxWeight, true},
	}
}

// WithDefaults returns p with every value filled in, 0 for a disabled weight.
func (p KeywordParams) WithDefaults() KeywordParams {
	for _, v := range p.all() {
		*v.value = max(0, cmp.Or(*v.value, v.Default))
	}
	return p
}

// or returns p with unset values taken from other.
func (p KeywordParams) or(other KeywordParams) KeywordParams {
	values := other.all()
	for i, v := range p.all() {
		*v.value = cmp.Or(*v.value, *values[i].value)
	}
	return p
}

// Validate returns an error that matches [ragctx.ErrInvalid] if a value is out of
// range.
func (p KeywordParams) Validate() error {
	for _, v := range p.all() {
		switch {
		case *v.value <= v.most && (*v.value >= 0 || v.weight && *v.value >= -v.most):
		case v.weight:
			return ragctx.Invalid("keyword."+v.name, "is %v; it must be at most %v, negative (to -%v) for none, or 0 for the default of %v",
				*v.value, v.most, v.most, v.Default)
		default:
			return ragctx.Invalid("keyword."+v.name, "is %v; it must be above 0 and at most %v, or 0 for the default of %v",
				*v.value, v.most, v.Default)
		}
	}
	return nil
}
