package analysis

import (
	_ "embed" // for the words
	"regexp"
	"sort"
	"strings"
)

// englishWords has frequent English words of five letters and more, one a line, in order. They are the
// words of the vocabulary of BERT; a test of package embed/static writes them.
//
//go:embed english.txt
var englishWords string

// isEnglish reports whether a folded word is a frequent English word of [MinSpelledRunes] letters or
// more.
func isEnglish(word string) bool {
	at := sort.Search(len(englishWords), func(i int) bool { return lineAt(i) >= word })
	return word != "" && lineAt(at) == word
}

// lineAt returns the word on the line of the byte at i, and "" at the end.
func lineAt(i int) string {
	start := strings.LastIndexByte(englishWords[:i], '\n') + 1
	word, _, _ := strings.Cut(englishWords[start:], "\n")
	return word
}

// regional are endings and middles of words that British and American English spell differently.
var regional = []struct {
	british  *regexp.Regexp
	american string
}{
	{regexp.MustCompile(`([aeiou][a-z]+)our`), "${1}or"},
	{regexp.MustCompile(`([iy])s([aei])`), "${1}z${2}"},
	{regexp.MustCompile(`([bt])re(s?)$`), "${1}er${2}"},
	{regexp.MustCompile(`ence`), "ense"},
}

// american returns the American spelling of a folded English word.
func american(word string) string {
	for _, r := range regional {
		word = r.british.ReplaceAllString(word, r.american)
	}
	return word
}

// sameEnglish reports whether two folded words are one English word in its British and its American
// spelling.
func sameEnglish(word, spelt string) bool {
	return isEnglish(spelt) && american(word) == american(spelt)
}
