package tokens

import (
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// chars4 counts one token per four characters, rounded up. It is close for English prose and far
// too low for most other scripts.
type chars4 struct{}

// Name implements [ragctx.Counter].
func (chars4) Name() string { return "chars4" }

// Count implements [ragctx.Counter].
func (chars4) Count(text string) int { return ceilDiv(utf8.RuneCountInString(text), 4) }

// claude estimates Claude's tokens from above, as the larger of
//
//   - 7/4 of the o200k_base count. Claude models up to 4.6 are reported to take some 1.1 to 1.3
//     times as many tokens as o200k_base for English and code, and Opus 4.7 to take 1.15 to 1.47
//     times as many as 4.6; where one factor is high the other tends to be low.
//   - the cl100k_base count, for scripts that o200k_base compresses unusually well and an older,
//     more English vocabulary does not.
//
// The vocabulary is not public, so this is not a bound: a crafted text, such as one long nonsense
// word, can have more tokens.
type claude struct {
	o200k, cl100k *bpe
}

func newClaude() (ragctx.Counter, error) {
	a, err := o200k()
	if err != nil {
		return nil, err
	}
	b, err := cl100k()
	if err != nil {
		return nil, err
	}
	return claude{a, b}, nil
}

// Name implements [ragctx.Counter].
func (claude) Name() string { return "claude" }

// Count implements [ragctx.Counter].
func (c claude) Count(text string) int {
	return max(ceilDiv(7*c.o200k.Count(text), 4), c.cl100k.Count(text))
}

// gemini estimates Gemini's tokens from above, as 7/5 of the o200k_base count with each digit
// counted as a token. Gemini's vocabulary of about 256,000 pieces is close to o200k_base in prose
// of any script, reported 5 to 10 % above it for English. By the Gemma reports it splits digits,
// and it does not join punctuation with line ends, which matters in code.
//
// Like claude it is an estimate, not a bound.
type gemini struct {
	o200k *bpe
}

func newGemini() (ragctx.Counter, error) {
	b, err := o200k()
	if err != nil {
		return nil, err
	}
	return gemini{b}, nil
}

// Name implements [ragctx.Counter].
func (gemini) Name() string { return "gemini" }

// Count implements [ragctx.Counter].
func (g gemini) Count(text string) int {
	// o200k_base has one token per group of up to three digits, so splitting a group adds at most
	// two thirds of its digits.
	groups := ceilDiv(2*digits(text), 3)
	return ceilDiv(7*(g.o200k.Count(text)+groups), 5)
}

// digits counts the ASCII digits of text.
func digits(text string) int {
	n := 0
	for i := range len(text) {
		if '0' <= text[i] && text[i] <= '9' {
			n++
		}
	}
	return n
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
