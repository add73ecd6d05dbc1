package queryexpand

import (
	"strings"
	"sync"
)

// language holds the small words of a language, lower-cased and parted by spaces.
// A word is what stands between spaces, apostrophes and hyphens.
type language struct {
	// function are all words that say nothing about what a question is about.
	function string
	// refers are words that stand for something said before; points those that do
	// where no noun of their own follows; places do where they do not say that
	// something exists.
	refers, points, places string
	// owners are those that stand for something unless the question names a thing
	// before: its, their.
	owners string
	// being are forms of "to be" beside places that say that something exists.
	being string
	// joins are words after which "that" begins a clause.
	joins string
	// openers at the beginning, tails at the end and links anywhere continue
	// something; phrases do it in two words, at the beginning.
	openers, tails, links string
	phrases               []string
	// breaks begin a clause. fillers may come before a question and say nothing.
	breaks, fillers string
	// turns say that the topic is a new one.
	turns []string
	// objects are articles that stand for something after one of subject.
	objects, subject string
}

// wordSet is a set of lower-cased words.
type wordSet map[string]bool

// lexicon is a language that is ready to be asked.
type lexicon struct {
	function, refers, owners, points, places, being, joins   wordSet
	openers, tails, links, breaks, fillers, objects, subject wordSet
	phrases, turns                                           []string
	infinitives                                              bool // carry their object at the end: "borrarlo"
}

// lexicons are those of all languages, English first.
var lexicons = sync.OnceValue(func() []*lexicon {
	out := []*lexicon{english.compile(), german.compile(), french.compile(), spanish.compile()}
	out[3].infinitives = true
	return out
})

func (l language) compile() *lexicon {
	set := func(list string) wordSet {
		s := make(wordSet)
		for w := range strings.FieldsSeq(list) {
			s[w] = true
		}
		return s
	}
	return &lexicon{
		function: set(l.function), refers: set(l.refers), owners: set(l.owners), points: set(l.points), places: set(l.places),
		being: set(l.being), joins: set(l.joins),
		openers: set(l.openers), tails: set(l.tails), links: set(l.links), breaks: set(l.breaks), fillers: set(l.fillers),
		objects: set(l.objects), subject: set(l.subject), phrases: l.phrases, turns: l.turns,
	}
}

// languageOf returns the language that most of the small words among the words are
// of; the first one of several, English if there is none.
func languageOf(words []word) *lexicon {
	best, most := lexicons()[0], 0
	for _, l := range lexicons() {
		n := 0
		for _, w := range words {
			if l.small(w.text) {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// small reports whether a word says nothing of what a text is about.
func (l *lexicon) small(w string) bool { return l.function[w] }
