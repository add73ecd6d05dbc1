package memory

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// groundShare is the fraction of an item's words that one passage of the turn must contain, or the
// item counts as invented. fewShare applies to items of at most few words, where a single word
// weighs much. Words are stemmed. Stop words, framing words ("the user prefers"), resolved dates,
// and words of the memories that the item supersedes do not count. The margin allows for different
// grammar and for words that make a note self-contained; an unrelated note does not reach it by
// chance, nor does one that adds as much as it reports. Numbers and names are stricter: each must
// occur in the turn.
const (
	groundShare = 0.6
	fewShare    = 0.5
	few         = 4
)

// A note in other words than the turn is grounded if their vectors are near and it shares nearShare of its words.
// A note in another language need not share words. TestGroundedNotes measures both.
const (
	nearCosine = 0.3
	nearShare  = 0.2
)

// minUserShare is the fraction of an item's words that the user must have said if the other words are
// the assistant's.
const minUserShare = 0.2

// passageTerms is the number of terms of a passage. In a longer text, half the words of any note
// occur somewhere.
const passageTerms = 150

// ground holds the words of a turn.
type ground struct {
	passages []passageWords
	all      map[string]bool
	related  map[string]bool // words of the memories shown to the model
	text     string          // folded
	clauses  []clause        // of the user

	user     string // what the user said
	language string
	embedder embed.Embedder
	vector   []float32 // of user, once it is needed
}

type passageWords struct {
	message int
	speaker Speaker
	words   map[string]bool
}

func newGround(pieces []piece, e embed.Embedder) ground {
	g := ground{all: make(map[string]bool), embedder: e}
	var text strings.Builder
	for _, p := range pieces {
		terms := analysis.Index(p.line.Name + "\n" + p.line.Text)
		for from := 0; ; from += passageTerms / 2 {
			words := make(map[string]bool)
			for _, t := range terms[from:min(from+passageTerms, len(terms))] {
				words[t], g.all[t] = true, true
			}
			g.passages = append(g.passages, passageWords{p.message, p.speaker, words})
			if from+passageTerms >= len(terms) {
				break
			}
		}
		text.WriteString(" " + analysis.StatementKey(p.line.Text) + " ")
		for w := range strings.FieldsSeq(analysis.StatementKey(p.line.Text)) {
			if n, ok := numberWords()[w]; ok {
				g.all[n] = true
			}
		}
		if p.speaker == SpeakerUser {
			g.clauses = append(g.clauses, clausesOf(p.line.Text)...)
			g.user += p.line.Text + "\n"
		}
	}
	g.text, g.language = text.String(), languageOf(g.user)
	return g
}

// says reports whether words occur in the turn, in sequence.
func (g *ground) says(words string) bool {
	key := analysis.StatementKey(words)
	return key != "" && strings.Contains(g.text, " "+key+" ")
}

// grounding is the origin of an item.
type grounding struct {
	from    Speaker
	message int
	share   float64
}

// find returns the origin of a content, or an error if the turn does not support it.
func (g *ground) find(content string, named map[string]bool) (grounding, error) {
	if err := g.numbers(content, named); err != nil {
		return grounding{}, err
	}
	if err := g.names(content); err != nil {
		return grounding{}, err
	}
	var terms []string
	for w := range contentWords(content) {
		if !named[w] {
			terms = append(terms, w)
		}
	}
	if len(terms) == 0 {
		return grounding{}, errors.New("it adds nothing to the memories it names")
	}
	if err := g.polarity(content, terms); err != nil {
		return grounding{}, err
	}
	user, tool, assistant := g.best(terms, SpeakerUser), g.best(terms, SpeakerTool), g.best(terms, SpeakerAssistant)
	either := share(terms, user.words, tool.words)
	both := share(terms, user.words, assistant.words)
	u, least := share(terms, user.words), groundShare
	if len(terms) <= few {
		least = fewShare
	}
	switch {
	case u >= least:
		return grounding{SpeakerUser, user.message, u}, nil
	case either >= least:
		return grounding{SpeakerTool, tool.message, either}, nil
	case both >= least && u >= minUserShare:
		return grounding{SpeakerAssistant, assistant.message, both}, nil
	case g.near(content, u):
		return grounding{SpeakerUser, user.message, u}, nil
	case both >= least:
		return grounding{}, errors.New("it is stated only by the assistant")
	}
	return grounding{}, fmt.Errorf("it is not grounded in the turn: %.0f %% of its words occur there; the least is "+
		"%.0f %%", 100*either, 100*least)
}

// best returns the speaker's passage with most of the terms; among equals the first wins.
func (g *ground) best(terms []string, v Speaker) passageWords {
	var best passageWords
	most := -1.0
	for _, p := range g.passages {
		if p.speaker != v {
			continue
		}
		if s := share(terms, p.words); s > most {
			best, most = p, s
		}
	}
	return best
}

// share returns the fraction of terms that occur in at least one of the sets.
func share(terms []string, sets ...map[string]bool) float64 {
	n := 0
	for _, t := range terms {
		for _, set := range sets {
			if set[t] {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(terms))
}

// isoDate matches a date resolved by a model.
var isoDate = regexp.MustCompile(`\b\d{4}-\d{2}(-\d{2})?\b`)

// clockTime matches a time of day, which the turn may spell differently.
var clockTime = regexp.MustCompile(`\b\d{1,2}:\d{2}\b`)

// numbers checks that the numbers of a content occur in the turn, as digits or as words. Those of dates may
// have been resolved.
func (g *ground) numbers(content string, named map[string]bool) error {
	small, dated := 1, timed(content)
	if dated {
		small = 31
	}
	for _, t := range analysis.Query(clockTime.ReplaceAllString(isoDate.ReplaceAllString(content, " "), " ")) {
		if t[0] < '0' || t[0] > '9' || g.all[t] || named[t] || dated && year(t) {
			continue
		}
		digits := t[:len(t)-len(strings.TrimLeft(t, "0123456789"))] // of 3rd, 5pm, 500ms
		if n, err := strconv.Atoi(digits); !strings.Contains(t, ".") && (g.all[digits] || err == nil && n <= small) {
			continue
		}
		return errors.New("it contains a number that the turn does not")
	}
	return nil
}

// names checks that the names of a content occur in the turn or in a memory shown to the model.
// Names are capitalized words inside a sentence. A longer or shorter form suffices: "PostgreSQL"
// for "postgres". German content is exempt, because German capitalizes all nouns.
func (g *ground) names(content string) error {
	german, frame, times := germanWords(), framing(), timeWords()
	var names []string
	begins := true
	for w := range strings.FieldsSeq(content) {
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		folded := strings.ToLower(bare)
		if german[folded] {
			return nil
		}
		if first, _ := utf8.DecodeRuneInString(bare); !begins && unicode.IsUpper(first) && !times[folded] && len(bare) > 1 {
			names = append(names, bare)
		}
		begins = strings.ContainsAny(w[len(w)-1:], ".!?:;\"")
	}
	for _, name := range names {
		for _, t := range analysis.Query(name)[:1] { // without the parts of a compound
			if !frame[t] && !g.hasForm(t) {
				return errors.New("it contains a name that the turn does not")
			}
		}
	}
	return nil
}

// hasForm reports whether a word, or a prefix or extension of it of at least three letters, occurs
// in the turn or in a memory shown to the model.
func (g *ground) hasForm(word string) bool {
	if g.all[word] || g.related[word] {
		return true
	}
	for _, set := range [...]map[string]bool{g.all, g.related} {
		for t := range set {
			if min(len(t), len(word)) >= 3 && (strings.HasPrefix(t, word) || strings.HasPrefix(word, t)) {
				return true
			}
		}
	}
	return false
}

// germanWords holds frequent German words that related languages lack.
var germanWords = sync.OnceValue(func() map[string]bool {
	return setOf("der das dem ein eine einen einem einer und ist sind mit für nicht auf wird wurde hat sich")
})

// framing holds words that introduce a note, and function words of languages that package analysis
// lacks.
var framing = sync.OnceValue(func() map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(`am pm mr mrs ms dr prof herr frau mme señor señora
		user users user's assistant agent prefers preference preferred wants likes wishes decides decided
		decision chose chosen chooses name named called project workspace team uses using asked requires says stated takes place
		nutzer nutzerin benutzer bevorzugt möchte mag entschied entschieden projekt heißt verwendet
		usuario usuaria prefiere quiere decidió proyecto llama usa utilisateur utilisatrice préfère veut décidé projet appelle utilise
		пользователь предпочитает хочет решил проект 用户 使用者 ユーザー 사용자
		der die das den dem des ein eine einen einem einer und oder ist sind im mit für von bei als auch zu zum
		zur auf am aus sich er sie es ihr ihre sein seine
		el la los las un una y o es de del en con por para que su sus al se lo le les une et ou est sont du des
		dans avec pour qui sa ses au aux il elle
		и или в на с по для что это его её он она из к у за`) {
		set[analysis.Stem(w)] = true
	}
	return set
})

// contentWords returns the content words of a note.
func contentWords(content string) map[string]bool {
	frame, times := framing(), timeWords()
	var timeless strings.Builder
	for w := range strings.FieldsSeq(isoDate.ReplaceAllString(content, " ")) {
		if folded := strings.ToLower(strings.Trim(w, `.,;:!?"'()[]`)); !times[folded] && !year(folded) {
			timeless.WriteString(w + " ")
		}
	}
	set := make(map[string]bool)
	compound := ""
	for _, t := range analysis.Query(timeless.String()) {
		if len(t) < len(compound) && strings.Contains(compound, t) {
			continue // a part of a compound; the compound comes first
		}
		if compound = t; !frame[t] {
			set[t] = true
		}
	}
	return set
}

// statement is a note prepared for comparison.
type statement struct {
	key   string
	words map[string]bool
	not   int // number of negating or limiting words
}

func newStatement(content string) statement {
	s := statement{key: analysis.StatementKey(content), words: contentWords(content)}
	deny := denials()
	for w := range strings.FieldsSeq(s.key) {
		if deny[w] {
			s.not++
		}
	}
	for _, d := range isoDate.FindAllString(content, -1) {
		s.words[d] = true // notes on different days differ
	}
	return s
}

// denials holds words that change a statement, in the form of [analysis.StatementKey], which splits "don't" in
// two.
var denials = sync.OnceValue(func() map[string]bool {
	return setOf(`not no never t without neither nor none nobody avoid avoids dislikes dislike
		hates stopped stop stops except only unless
		longer instead former formerly kein keine keinen nicht nie niemals ohne außer nur statt
		nunca sin ni jamás excepto solo sólo pas jamais sans sauf ne rien plus не нет никогда без кроме только`)
})

// sameShare is the fraction of the words of each of two notes that both must share.
const sameShare = 0.7

// covers reports whether s says all that o says and little more: every word of o is in s. A replaced
// word makes a different statement, however long the rest.
func (s *statement) covers(o statement) bool {
	if s.key == o.key {
		return true
	}
	if s.not != o.not || len(o.words) == 0 || float64(len(o.words)) < sameShare*float64(len(s.words)) {
		return false
	}
	for w := range o.words {
		if !s.words[w] {
			return false
		}
	}
	return true
}
