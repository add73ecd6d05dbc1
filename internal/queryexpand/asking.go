package queryexpand

import (
	"strings"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

const (
	// maxAsking is the number of asking sentences of a message that are searched by themselves, from the last.
	maxAsking = 6
	// askingContent is the number of content words from which a sentence is worth a search: not "Any ideas?".
	askingContent = 2
	// sentenceWords is the number of words of a sentence that are read.
	sentenceWords = 200
)

// Asking returns the sentences of a message that ask for something; none if the message is one sentence.
func Asking(message string) []string {
	n := 0
	var asking []string
	for line := range strings.Lines(message) {
		sentence.Sentences(strings.TrimSpace(line), func(s string) bool {
			if n++; asks(s) {
				asking = append(asking, strings.TrimSpace(s))
			}
			return true
		})
	}
	if n < 2 {
		return nil
	}
	return asking[max(0, len(asking)-maxAsking):]
}

// asks reports whether a sentence is a question or an order, and names what about.
func asks(s string) bool {
	words := split(s, sentenceWords)
	l := languageOf(words)
	if n, _ := l.content(words); n < askingContent {
		return false
	}
	if strings.ContainsAny(s, "?？؟") || contains(words, l.requests) {
		return true
	}
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
