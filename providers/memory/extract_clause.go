package memory

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// clause is a part of a sentence of the user.
type clause struct {
	words  map[string]bool // stems
	denies bool
	doubts bool
}

// clauseEnds matches what separates clauses, in four languages.
var clauseEnds = regexp.MustCompile(`(?i)[.!?;:,—–()\n]+|\b(?:` +
	`but|and|because|so|though|aber|und|weil|sondern|mais|et|parce que|pero|y|porque|sino)\b`)

func clausesOf(text string) (out []clause) {
	for _, part := range clauseEnds.Split(text, -1) {
		c := clause{words: make(map[string]bool), denies: denies(part), doubts: doubts(part)}
		for _, t := range analysis.Index(part) {
			c.words[t] = true
		}
		if len(c.words) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// polarity rejects a note that leaves out the negation or the doubt of the clause that it reports, or that
// denies something though the user denies nothing. The clause is the one with most words of the note.
func (g *ground) polarity(content string, terms []string) error {
	var best clause
	most, denied := 0.0, false
	for _, c := range g.clauses {
		denied = denied || c.denies
		if s := share(terms, c.words); s > most {
			best, most = c, s
		}
	}
	switch {
	case len(g.clauses) == 0:
		return nil
	case best.denies && !denies(content):
		return errors.New("it leaves out a negation of the turn")
	case !denied && denies(content):
		return errors.New("it denies what the turn does not deny")
	case best.doubts && !doubts(content):
		return errors.New("it leaves out a doubt of the turn")
	}
	return nil
}

// near reports whether the turn supports a note in other words: their vectors are near, and they share some
// words or are in two languages.
func (g *ground) near(content string, share float64) bool {
	if g.embedder == nil || g.user == "" || share < nearShare && languageOf(content) == g.language {
		return false
	}
	texts := []string{content}
	if g.vector == nil {
		texts = append(texts, g.user)
	}
	v, err := g.embedder.EmbedDocuments(context.Background(), texts)
	if err != nil || len(v) != len(texts) {
		return false // the words decide
	}
	if g.vector == nil {
		g.vector = v[1]
	}
	return embed.Cosine(v[0], g.vector) >= nearCosine
}

// languageOf returns the language with most function words in a text, or "".
func languageOf(text string) string {
	counts := make(map[string]int)
	best := ""
	for w := range strings.FieldsSeq(analysis.StatementKey(text)) {
		for _, l := range functionWords()[w] {
			if counts[l]++; best == "" || counts[l] > counts[best] {
				best = l
			}
		}
	}
	return best
}

// functionWords maps frequent function words to the languages that have them.
var functionWords = sync.OnceValue(func() map[string][]string {
	out := make(map[string][]string)
	for _, l := range [...][2]string{
		{"de", "der die das und ist nicht ich wir mit ein eine für auf wird nutzer nutzerin des im"},
		{"en", "and is i we for with of to user users in my our"},
		{"es", "el la los las y es yo un una para con del que usuario"},
		{"fr", "le la les et est je nous un une des pour avec dans du utilisateur"},
	} {
		for w := range strings.FieldsSeq(l[1]) {
			out[w] = append(out[w], l[0])
		}
	}
	return out
})

func denies(text string) bool { return hasWord(text, denyingWords()) }

func doubts(text string) bool { return hasWord(text, doubtingWords()) }

func hasWord(text string, words map[string]bool) bool {
	for w := range strings.FieldsSeq(analysis.StatementKey(text)) {
		if words[w] {
			return true
		}
	}
	return false
}

// denyingWords holds words that deny, in the form of [analysis.StatementKey], which splits "don't" in two.
var denyingWords = sync.OnceValue(func() map[string]bool {
	return setOf(`not no never t without neither nor none nobody longer anymore cannot stop stopped stops quit quits gave
		avoid avoids dislike dislikes hate hates refuse refuses except unless forbids forbidden prohibits
		kein keine keinen keiner keinem keines nicht nie niemals ohne hasst vermeidet meidet verboten
		no nunca sin ni jamás tampoco odia evita prohíbe
		pas jamais sans ne n aucun aucune déteste évite interdit`)
})

// doubtingWords holds words of doubt, of plans that are not settled, and of conditions.
var doubtingWords = sync.OnceValue(func() map[string]bool {
	return setOf(`might maybe perhaps possibly possible thinking considering considers considered could wonder wonders
		wondering unsure undecided if whether
		vielleicht eventuell überlegt überlege überlegen wohl könnte könnten möglicherweise möglich offen unsicher ob wenn falls
		peut peut-être hésite hésitent réfléchit réfléchis pourrait envisage envisagent si
		quizá quizás duda dudo pienso piensa podría considera`)
})

// numberWords maps spelled numbers to digits.
var numberWords = sync.OnceValue(func() map[string]string {
	out := make(map[string]string)
	for _, list := range [...]string{
		"zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
			"seventeen eighteen nineteen twenty",
		"null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn " +
			"siebzehn achtzehn neunzehn zwanzig",
		"zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize " +
			"dix-sept dix-huit dix-neuf vingt",
		"cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis " +
			"diecisiete dieciocho diecinueve veinte",
	} {
		for i, w := range strings.Fields(list) {
			out[w] = strconv.Itoa(i)
		}
	}
	for w, n := range map[string]int{
		"once": 1, "twice": 2, "both": 2, "couple": 2, "pair": 2, "twins": 2, "dozen": 12, "hundred": 100,
		"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
		"zweimal": 2, "dreimal": 3, "beide": 2, "dutzend": 12, "hundert": 100, "cien": 100, "cent": 100,
	} {
		out[w] = strconv.Itoa(n)
	}
	return out
})

// setOf returns the set of some words.
func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
