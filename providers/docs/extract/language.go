package extract

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// Limits of the sample for language detection.
const (
	languageSample   = 512 // bytes of prose
	languageSearch   = 16 << 10
	minLetters       = 40 // fewer are not enough; letters of scripts without spaces count three times
	minFunctionWords = 6  // function words of one language that are sufficient
)

// detectLanguage returns the ISO 639-1 code of a text's natural language; "" if the text is short
// or ambiguous. It reads a sample of the prose in the first 16 KiB, without code, tables and
// addresses. It takes about 20 µs if function words decide, otherwise about 400 µs.
func detectLanguage(text string) string {
	sample, letters := proseSample(text)
	if letters < minLetters {
		return ""
	}
	if lang := byFunctionWords(sample); lang != "" {
		return lang
	}
	info := whatlanggo.Detect(sample)
	if !info.IsReliable() {
		return ""
	}
	return info.Lang.Iso6391()
}

// functionWords maps frequent function words to their languages. Trigrams need more text and 100
// times the work.
var functionWords = func() map[string][]string {
	m := make(map[string][]string)
	for lang, words := range map[string]string{
		"en": "the of and to is with that for are this you from it be not can",
		"de": "der die und das ist nicht mit den ein eine werden für auf wird sich dem",
		"fr": "les des est une dans pour que sur avec pas vous sont cette être ou et",
		"es": "los las una para con por del este como más puede el su está se y",
		"it": "il che di non della per una sono gli è questo con dei nel alla",
		"pt": "não uma os do da para com em são ao você pelo mais isso as",
		"nl": "het een van niet met voor zijn wordt deze op dat kan naar bij ook de",
		"sv": "och att är som för inte på det med till den av kan när en",
		"pl": "nie jest się na że przez dla oraz lub może być tego są jak do",
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] = append(m[w], lang)
		}
	}
	return m
}()

// byFunctionWords returns the language with clearly the most function words, or "".
func byFunctionWords(sample string) string {
	counts := make(map[string]int)
	for w := range strings.FieldsSeq(sample) {
		for _, lang := range functionWords[strings.ToLower(strings.TrimRight(w, ".,;:"))] {
			counts[lang]++
		}
	}
	best, second := "", 0
	for _, lang := range slices.Sorted(maps.Keys(counts)) {
		switch n := counts[lang]; {
		case best == "" || n > counts[best]:
			best, second = lang, counts[best]
		case n > second:
			second = n
		}
	}
	if counts[best] < minFunctionWords || counts[best] < 2*second+2 {
		return ""
	}
	return best
}

// proseSample returns words of prose and their number of letters. Letters of scripts without
// spaces, such as Chinese, count three times.
func proseSample(text string) (string, int) {
	var b strings.Builder
	letters := 0
	text = strings.ToValidUTF8(text[:min(len(text), languageSearch)], "")
	fence := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fence = !fence
			continue
		}
		if fence || line == "" {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			n, ok := wordLetters(word)
			if !ok {
				continue
			}
			b.WriteString(word)
			b.WriteByte(' ')
			if letters += n; b.Len() > languageSample {
				return strings.ToValidUTF8(b.String()[:languageSample], ""), letters
			}
		}
	}
	return b.String(), letters
}

// wordLetters counts the letters of a word. It returns false for identifiers, addresses and
// numbers.
func wordLetters(w string) (n int, ok bool) {
	w = strings.Trim(w, ".,;:!?()[]{}\"'«»„“”‘’*_#>|-–—…、。，；：？！「」『』（）")
	if w == "" || strings.ContainsAny(w, "`=<>/\\_@{}[]()$%^&|~") && w[0] < utf8.RuneSelf {
		return 0, false
	}
	for _, r := range w {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			n += 3
		case unicode.IsLetter(r):
			n++
		case unicode.IsDigit(r):
			return 0, false
		}
	}
	return n, n > 0
}

// noteLanguage sets the language of a text. A language declared by the file wins, except English,
// which templates declare for pages in any language.
func (t *Text) noteLanguage() {
	if declared, _ := t.Metadata[MetaLanguage].(string); declared == "" || declared == "en" {
		t.setMeta(MetaLanguage, detectLanguage(t.Text))
	}
}
