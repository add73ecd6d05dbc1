package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// person holds the names of the speaker in stored facts.
type person struct {
	subject string // "user", or the name; for comparison
	name    string // "The user", or the name
	named   bool
}

// mid returns the name as written inside a sentence.
func (p person) mid() string {
	if p.named {
		return p.name
	}
	return "the user"
}

// third rewrites an English first-person clause in the third person. It returns false for a clause
// about "we" or to "you", which has no such form.
func (p person) third(clause string) (string, bool) {
	words := strings.Fields(clause)
	verb := false // the next word is the verb of "I"
	for i, w := range words {
		core := strings.TrimRight(w, ",;:.!?")
		tail := w[len(core):]
		low := strings.ReplaceAll(strings.ToLower(core), "’", "'")
		if verb && !adverb(low) {
			core, verb = thirdVerb(low, core), false
		}
		switch low {
		case "i":
			core, verb = p.mid(), true
		case "i'm", "im":
			core = p.mid() + " is"
		case "i've", "ive":
			core = p.mid() + " has"
		case "i'll":
			core = p.mid() + " will"
		case "i'd":
			core = p.mid() + " would"
		case "me":
			core = p.mid()
		case "my", "our":
			core = p.mid() + "'s"
		case "mine", "ours":
			core = p.mid() + "'s"
		case "we", "we're", "we've", "we'll", "we'd", "us", "you", "your", "yours", "you're":
			return "", false
		}
		words[i] = core + tail
	}
	return sentenceCase(strings.Join(words, " ")), true
}

// sentenceCase capitalizes a sentence and adds its full stop.
func sentenceCase(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(r)) + s[n:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

func adverb(w string) bool {
	switch w {
	case "also", "just", "still", "always", "never", "often", "sometimes", "only", "now", "already", "even", "both",
		"then", "not", "no", "longer", "so", "kinda", "almost":
		return true
	}
	return strings.HasSuffix(w, "ly") && !lyVerbs[w]
}

// lyVerbs are verbs that end like adverbs.
var lyVerbs = wordSet("fly rely apply reply supply multiply comply")

// pasts holds irregular past forms.
var pasts = wordSet(`was were had did went got took made came saw said knew thought found gave told became left
	felt brought began kept held wrote stood heard
	met ran paid sat spoke lay led grew lost fell sent built drove bought wore chose broke woke rose spent won
	taught caught sold fought flew drew swam sang
	slept forgot ate shook threw hid rode rang sank stole tore hurt cut put set let quit hit read shut spread bet
	beat bit bled bred blew forgave froze hung
	knelt lent lit meant sought shot slid split spun stuck struck swore swept swung understood wound withdrew
	overcame undertook gave dug did rebuilt
	dreamt learnt burnt spelt spilt been done gone taken seen`)

// modals holds verbs that are the same in all persons.
var modals = wordSet("can can't cant cannot wont shouldnt could couldn't will won't would wouldn't shall should " +
	"shouldn't may might must mustn't used ought better")

// thirdVerb returns the third person of a verb after "I"; as is its original spelling.
func thirdVerb(w, as string) string {
	switch {
	case w == "am":
		return "is"
	case w == "have":
		return "has"
	case w == "haven't":
		return "hasn't"
	case w == "don't" || w == "dont":
		return "doesn't"
	case w == "do" || w == "go":
		return w + "es"
	case pasts[w], modals[w], strings.HasSuffix(w, "ed") && len(w) > 4, strings.HasSuffix(w, "n't"), strings.HasSuffix(w, "ing"):
		return as
	case hasAnySuffix(w, "s", "sh", "ch", "x", "z"):
		return as + "es"
	case strings.HasSuffix(w, "y") && len(w) > 1 && !strings.ContainsRune("aeiou", rune(w[len(w)-2])):
		return as[:len(as)-1] + "ies"
	}
	return as + "s"
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

// pastVerb reports whether a word is a past verb.
func pastVerb(w string) bool {
	return pasts[w] || strings.HasSuffix(w, "ed") && len(w) > 3 && w != "need" && w != "feed" && w != "speed"
}
