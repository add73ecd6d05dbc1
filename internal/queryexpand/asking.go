package queryexpand

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// maxAsking is the number of sentences that [Asking] returns, the last ones. Questions come before orders.
const maxAsking = 6

// sentenceWords is the number of words of a sentence that are read.
const sentenceWords = 200

// Asking returns the sentences of a message that ask for something. It returns none if the message is one sentence, or if
// its only question has hardly a word to search for: orders on the form of the answer would then decide.
func Asking(message string) []string {
	lines, n := unwrapped(message)
	said := make(map[request][]string)
	for _, line := range lines {
		sentence.Sentences(line, func(s string) bool {
			n++
			if kind := requestOf(s); !slices.Contains(said[kind], s) {
				said[kind] = append(said[kind], s)
			}
			return true
		})
	}
	questions, orders := said[question], said[order]
	if n < 2 || len(questions) == 0 && len(said[shortQuestion]) > 0 {
		return nil
	}
	questions = questions[max(0, len(questions)-maxAsking):]
	return append(questions, orders[max(0, len(orders)+len(questions)-maxAsking):]...)
}

// request is what a sentence asks for.
type request int

const (
	nothing       request = iota
	order                 // an order, or an indirect question
	question              // with its mark
	shortQuestion         // of one content word: "What are webhooks?", "Any ideas?"
)

// unwrapped returns the lines of a message, and the number of blocks of fenced code, which it leaves out. A line that goes
// on in small letters is joined to the next.
func unwrapped(message string) (lines []string, blocks int) {
	code, open := false, false
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			if code, open = !code, false; code {
				blocks++
			}
			continue
		}
		if code {
			continue
		}
		first, _ := utf8.DecodeRuneInString(line)
		if open && unicode.IsLower(first) {
			lines[len(lines)-1] += " " + line
		} else {
			lines = append(lines, line)
		}
		last, _ := utf8.DecodeLastRuneInString(line)
		open = unicode.IsLetter(last) || last == ','
	}
	return lines, blocks
}

// requestOf returns what a sentence asks for. An order of one content word, such as "Keep it short", asks for nothing.
func requestOf(s string) request {
	words := split(s, sentenceWords)
	l := languageOf(words)
	n, _ := l.content(words)
	switch marked := hasMark(s); {
	case n == 1 && marked:
		return shortQuestion
	case n < 2:
		return nothing
	case marked:
		return question
	case l.beginsRequest(words) || contains(words, l.requests):
		return order
	}
	return nothing
}

// hasMark reports whether a sentence ends with the mark of a question, after a word: not "id = ?" or an address.
func hasMark(s string) bool {
	s = strings.TrimRight(s, ` )]"'»”’*_`)
	bare := strings.TrimRight(s, "?!？؟ ")
	if !strings.ContainsAny(s[len(bare):], "?？؟") || strings.Contains(s[strings.LastIndexByte(s, ' ')+1:], "://") {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(bare, ")]\"'»”’`"))
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}

// beginsRequest reports whether a word that begins a question or an order comes first, or after words without content.
func (l *lexicon) beginsRequest(words []word) bool {
	for _, w := range words {
		if l.asking[w.text] {
			return true
		}
		if !l.fillers[w.text] && !l.openers[w.text] && !l.manners[w.text] {
			break
		}
	}
	return false
}
