package facts

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Standing reports whether a fact of the user concerns every later answer: an instruction, a
// preference or a decision. A request to remember something does so only with a word such as
// "always" or "never".
func Standing(f Fact) bool {
	switch f.Kind {
	case ragctx.FactPreference, ragctx.FactDecision:
		return true
	case ragctx.FactInstruction:
		return f.Attribute != asksToRemember || namesStanding(f.Content)
	default:
		return false
	}
}

// namesStanding reports whether a text contains a word for what is meant to last.
func namesStanding(content string) bool {
	t := read(content)
	var words []string
	for _, w := range t.words(0, len(t.fold)) {
		words = append(words, t.folded(w))
	}
	for i, w := range words {
		two := strings.Join(words[i:min(i+2, len(words))], " ")
		if slices.Contains(cuesOf[w], "standing") || slices.Contains(cuesOf[two], "standing") {
			return true
		}
	}
	return false
}
