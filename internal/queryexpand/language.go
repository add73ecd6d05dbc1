package queryexpand

import (
	"strings"
	"sync"
)

// language holds the word lists of a language, lower-cased and separated by spaces. Words are
// separated by spaces, apostrophes and hyphens.
type language struct {
	// function lists the function words: words without content.
	function string
	// refers lists words that refer to something said before. Words of points do so only without a
	// noun after them, words of places only if they do not say that something exists.
	refers, points, places string
	// owners lists possessives, which refer to something unless the question names a thing before:
	// its, their.
	owners string
	// being lists forms of "to be" that, next to a word of places, say that something exists.
	being string
	// joins lists words after which "that" begins a clause.
	joins string
	// openers mark a continuation at the beginning, tails at the end, and links anywhere. phrases
	// are openers of several words.
	openers, tails, links string
	phrases               []string
	// breaks begin a clause. fillers may precede a question and have no content.
	breaks, fillers string
	// turns announce a new topic.
	turns []string
	// asking lists words that begin a question or an order, manners those that may come before, and requests the
	// beginnings of an indirect one.
	asking, manners string
	requests        []string
	// objects lists articles that refer to something after a word of subject.
	objects, subject string
}

// wordSet is a set of lower-cased words.
type wordSet map[string]bool

// lexicon is a compiled language.
type lexicon struct {
	function, refers, owners, points, places, being, joins   wordSet
	openers, tails, links, breaks, fillers, objects, subject wordSet
	asking, manners                                          wordSet
	phrases, turns, requests                                 []string
	infinitives                                              bool // infinitives take their object as a suffix: "borrarlo"
}

// lexicons returns the lexicons of all languages, English first.
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
		asking: set(l.asking), manners: set(l.manners), requests: l.requests,
	}
}

// languageOf returns the language with the most function words among the words. It returns the
// first of several, and English if no word is known.
func languageOf(words []word) *lexicon {
	best, most := lexicons()[0], 0
	for _, l := range lexicons() {
		n := 0
		for _, w := range words {
			if l.isFunction(w.text) {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// isFunction reports whether a word is a function word.
func (l *lexicon) isFunction(w string) bool { return l.function[w] }
