package builtin

import (
	"strings"
	"unicode"
)

// minForeign is the number of function words of other languages from which a text may be in one.
const minForeign = 2

// englishWords and foreignWords are frequent function words of English, and of other languages in Latin
// letters. The latter are rare in English.
var (
	englishWords = wordSet("the of and to is with that for are this you from it be not can in on as was by or an")
	foreignWords = wordSet("der das und ist nicht mit dem ein eine einen wird werden für auf auch sich zu von bei " + // German
		"les une est dans pour que sur avec pas vous sont cette du et qui aux " + // French
		"los las una por como más puede su está con para pero fue " + // Spanish
		"il di che non della sono gli è questo nel alla degli una " + // Italian
		"uma não dos ao são você pelo mais isso foi como " + // Portuguese
		"het een van niet voor zijn wordt deze dat kan naar ook de " + // Dutch
		"och att är för inte på till av kan och det ett " + // Swedish
		"nie się na że przez dla oraz być jak są") // Polish
)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// isEnglish reports whether a text may be English: most of its letters are Latin, and it does not have
// more function words of other languages. Code and names are English.
func isEnglish(text string) bool {
	letters, latin := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if r < unicode.MaxLatin1 || unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	if 2*latin < letters {
		return false
	}
	english, foreign := 0, 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		w = strings.ToLower(w)
		switch {
		case englishWords[w]:
			english++
		case foreignWords[w]:
			foreign++
		}
	}
	return foreign < minForeign || foreign <= english
}
