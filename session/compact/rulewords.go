package compact

import (
	_ "embed"
	"strings"
)

// sense is a set of meanings that a phrase gives to a user's sentence.
type sense uint16

const (
	binds    sense = 1 << iota // a requirement or prohibition
	expects                    // likewise, unless users speak about themselves
	mayBind                    // possibly a requirement
	settles                    // a decision
	due                        // a date
	revokes                    // withdraws an earlier statement
	denies                     // a prohibition or negation
	narrates                   // a report of what happens, whatever else it says
	requests                   // a request in the form of a question
)

//go:embed words.txt
var wordsFile string

// wordLists are the lists of the file by name.
var wordLists = func() map[string][]string {
	out := make(map[string][]string)
	for section := range strings.SplitSeq(wordsFile, "\n= ") {
		title, text, _ := strings.Cut(section, "\n")
		name, _, titled := strings.Cut(title, ":")
		if !titled {
			continue // preamble of the file
		}
		for p := range strings.SplitSeq(text, ",") {
			out[name] = append(out[name], strings.Join(strings.Fields(p), " "))
		}
	}
	return out
}()

// wordSet returns a list as a set of words.
func wordSet(name string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range wordLists[name] {
		out[fold(w)] = true
	}
	return out
}

var (
	openers        = wordSet("openers")
	idleWords      = wordSet("idle")
	valueWords     = wordSet("values")
	limits         = wordSet("limits")
	contrasts      = wordSet("contrasts")
	weekdays       = wordSet("weekdays")
	harmless       = wordSet("harmless")
	negative       = wordSet("negative")
	imperatives    = wordSet("imperatives")
	ruleTitles     = wordSet("ruleTitles")
	decisionTitles = wordSet("decisionTitles")
	dateTitles     = wordSet("dateTitles")
	stops          = wordSet("stops")
	elided         = wordSet("elided")
)

// phrase is a sequence of words with its sense.
type phrase struct {
	words []string
	says  sense
	opens bool // it must begin a clause
}

// lexicon maps first words to phrases.
var lexicon = func() map[string][]phrase {
	out := make(map[string][]phrase)
	for name, says := range map[string]sense{
		"binds": binds, "expects": expects, "mayBind": mayBind, "settles": settles, "due": due,
		"revokes": revokes, "denies": denies, "tells": narrates, "requests": requests,
	} {
		for _, text := range wordLists[name] {
			p := phraseOf(text, says)
			out[p.words[0]] = append(out[p.words[0]], p)
		}
	}
	return out
}()

func phraseOf(text string, says sense) phrase {
	p := phrase{says: says}
	for w := range strings.FieldsSeq(text) {
		switch {
		case w == "^":
			p.opens = true
		case w == "_" || strings.HasSuffix(w, "~"):
			p.words = append(p.words, fold(w))
		default:
			for _, t := range tokensOf(w) {
				p.words = append(p.words, t.word)
			}
		}
	}
	return p
}
