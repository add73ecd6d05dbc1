package redact

import (
	_ "embed" // the weights
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

//go:embed weights.bin
var weightsFile []byte

// weightScale is what the weights of weights.bin are multiplied with.
const weightScale = 100

// weightTable maps features to weights. It is a table with open addressing.
type weightTable []weightSlot

type weightSlot struct {
	feature uint32
	weight  float32
}

// weights reads weights.bin: four bytes of a feature and two of its weight, again and again.
var weights = sync.OnceValue(func() weightTable {
	t := newWeightTable(len(weightsFile) / 6)
	for b := weightsFile; len(b) >= 6; b = b[6:] {
		t.set(binary.LittleEndian.Uint32(b), float32(int16(binary.LittleEndian.Uint16(b[4:])))/weightScale)
	}
	return t
})

func newWeightTable(n int) weightTable {
	size := 1 << 10
	for size < n+n/2 {
		size *= 2
	}
	return make(weightTable, size)
}

// slot returns the slot of a feature, which is empty if the feature has no weight.
func (t weightTable) slot(f uint32) *weightSlot {
	mask := uint32(len(t) - 1)
	at := f & mask
	for t[at].feature != 0 && t[at].feature != f {
		at = (at + 1) & mask
	}
	return &t[at]
}

func (t weightTable) set(f uint32, w float32) { *t.slot(f) = weightSlot{f, w} }

// sum returns the sum of the weights of features.
func (t weightTable) sum(features []uint32) (sum float64) {
	for _, f := range features {
		sum += float64(t.slot(f).weight)
	}
	return sum
}

// wordScore is the sums of weights for a word being part of a secret, and after one that is, for staying and leaving.
type wordScore struct{ in, stay, leave float64 }

// scores is a sink that adds weights.
type scores struct {
	weightTable
	of []wordScore
}

func (s *scores) word(n int, features []uint32)  { s.of[n].in = s.sum(features) }
func (s *scores) stay(n int, features []uint32)  { s.of[n].stay = s.sum(features) }
func (s *scores) leave(n int, features []uint32) { s.of[n].leave = s.sum(features) }

// label returns the probability of each word to be part of a secret.
func (ps *passage) label() []float64 {
	s := scores{weights(), make([]wordScore, len(ps.words))}
	ps.features(&s)
	return posterior(ps.words, s.of)
}

// posterior computes marginals by the forward-backward algorithm. The two states of a word are scaled to the sum 1.
func posterior(words []passageWord, score []wordScore) []float64 {
	out := make([]float64, len(score))
	inside := 0.0
	for n, s := range score {
		s = wordScore{bounded(s.in), bounded(s.stay), bounded(s.leave)}
		if words[n].barred {
			s.in = 0
		}
		score[n] = s
		in, not := s.in, 1.0
		if n > 0 {
			in, not = (1-inside+inside*s.stay)*s.in, 1-inside+inside*s.leave
		}
		inside = in / (in + not)
		out[n] = inside
	}
	after := 0.5 // the state inside, seen from the words after
	for n, s := range slices.Backward(score) {
		p := out[n]
		out[n] = p * after / (p*after + (1-p)*(1-after))
		in, not := s.stay*s.in*after+s.leave*(1-after), s.in*after+1-after
		after = in / (in + not)
	}
	return out
}

// bounded is the exponential of a score within bounds.
func bounded(score float64) float64 { return math.Exp(max(-30, min(30, score))) }

// threshold is the least probability of a redacted word. formThreshold holds for a word of a form that few names have, and
// beside a word for a secret also for the other forms that people choose for passwords.
const (
	threshold     = 0.52
	formThreshold = 0.2
	firmThreshold = 0.5 // without a word for a secret, but with one for a lock, a network, an account or a code
	weakThreshold = 0.6 // where there is none of them, or no word that is no everyday word
)

// least returns the least probability of a redacted word.
func (ps *passage) least(strong bool) float64 {
	first, last := ps.words[0].start, ps.words[len(ps.words)-1].end
	switch {
	case strong:
		return threshold
	case slices.ContainsFunc(ps.topics, func(t topic) bool { return t.c < place }) && oddText(ps.s[first:last]):
		return firmThreshold
	}
	return weakThreshold
}

// isSecret reports for each word of the passage whether it is redacted.
func (ps *passage) isSecret() []bool {
	strong := slices.ContainsFunc(ps.topics, func(t topic) bool { return !t.c.isWeak() })
	least := ps.least(strong)
	out := make([]bool, len(ps.words))
	any := false
	for n, prob := range ps.label() {
		g := ps.words[n].group
		out[n] = prob >= least || (strong && chosenForms[g] || oddForms[g]) && prob >= formThreshold
		any = any || out[n]
	}
	if any {
		ps.complete(out)
	}
	return out
}

// tag redacts words that are part of a secret by what they look like and what stands around them.
func (p *scanner) tag() {
	p.found = merge(p.found)
	var found []Finding
	for ps := range p.passages {
		secret := ps.isSecret()
		for n := 0; n < len(secret); n++ {
			end := n
			for end < len(secret) && secret[end] {
				end++
			}
			if end > n {
				found = append(found, Finding{ps.kind(n, end), ps.words[n].start, ps.words[end-1].end})
				n = end
			}
		}
	}
	p.found = append(p.found, found...)
}

// kind returns the kind of the secret in the words from n to end. The nearest word for a secret decides; the
// distance of one behind them counts twice.
func (ps *passage) kind(n, end int) string {
	best, weak, least := noClass, noClass, math.MaxInt
	for i, t := range ps.words {
		d := n - i
		if i >= end {
			d = 2 * (i - end + 1)
		}
		switch {
		case t.topic.isWeak():
			weak = t.topic
		case t.topic != noClass && d < least:
			best, least = t.topic, d
		}
	}
	if k := kindOf[best]; k != "" {
		return k
	}
	if g := ps.words[n].group; weak == lock && (g == gDigits || g == gNumeral) {
		return AccessCode
	}
	return Password
}
