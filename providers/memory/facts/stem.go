//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"strings"
)

// endings of words that vary with number, gender and person, longest first.
var inflections = [...]string{
	"ungen", "iert", "ings", "amos", "emos", "imos", "ung", "ing", "ies", "ied", "ons", "ent", "ait", "ant", "ado", "ada", "ido", "ida",
	"es", "ed", "en", "er", "em", "et", "ez", "ar", "ir", "as", "os", "e", "s", "n", "a", "o", "t", "y",
}

// stem removes the inflection of a folded word. Unrelated words seldom share a stem.
func stem(f string) string {
	f = strings.TrimSuffix(f, "'s")
	if len(f) > 2 && f[1] == '\'' { // l'ecole, d'alcool
		f = f[2:]
	}
	if len(f) > 3 && strings.HasPrefix(f, "qu'") {
		f = f[3:]
	}
	if len(f) == 0 || f[0] >= '0' && f[0] <= '9' {
		return f
	}
	for _, x := range inflections {
		if len(f) >= len(x)+3+min(1, len(x)%2) && strings.HasSuffix(f, x) {
			return f[:len(f)-len(x)]
		}
	}
	return f
}

// dayWords name days, months and times of day.
var dayWords = wordSet(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
	saturdays sundays
	january february march april may june july august september october november december noon midnight
	montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags
	januar februar marz mai juni juli oktober dezember uhr
	lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre
	midi lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre
	noviembre diciembre mediodia`)

var numberWords = wordSet(`two three four five six seven eight nine ten eleven twelve fifteen twenty thirty half weekly daily monthly
	zwei drei vier funf sechs sieben acht neun zehn elf zwolf zwanzig dreissig wochentlich taglich
	deux trois quatre cinq sept huit neuf dix onze douze vingt trente
	dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta`)

var ordinal = pattern(`^\d{1,2}(?:st|nd|rd|th|h|am|pm|er)$`)

// looksLikeTime reports whether a number is a part of a day or of a time of day.
func looksLikeTime(t *text, ws []word, i int) bool {
	w := ws[i]
	if ordinal().MatchString(t.folded(w)) || w.to < len(t.fold) && t.fold[w.to] == ':' || w.from > 0 && t.fold[w.from-1] == ':' {
		return true
	}
	for j := max(0, i-3); j < min(len(ws), i+3); j++ {
		if dayWords[t.folded(ws[j])] {
			return true
		}
	}
	return i > 0 && (t.folded(ws[i-1]) == "at" || t.folded(ws[i-1]) == "um") && w.to-w.from <= 2
}

// sameStem reports whether two stems are equal, or long and alike: "abonn" and "abonnem".
func sameStem(a, b string) bool {
	if a == b {
		return true
	}
	n := min(len(a), len(b))
	if n == 3 && a[:3] == b[:3] && max(len(a), len(b)) == 4 && (verbForm(a) || verbForm(b)) && verbVowel(a, b) {
		return true // "fumo", "fumar"
	}
	if n == 4 && a[:4] == b[:4] && max(len(a), len(b)) == 5 && a[0] > '9' {
		return true
	}
	if len(a) == len(b) && n >= 4 && a[:n-1] == b[:n-1] && strings.IndexByte("aeo", a[n-1]) >= 0 && strings.IndexByte("aeo", b[n-1]) >= 0 {
		return true // "jefe", "jefa"
	}
	return n >= 5 && a[:n] == b[:n] && max(len(a), len(b))-n <= 4 && a[0] > '9'
}

// verbVowel reports whether the longer of two stems ends as a Spanish or French verb does.
func verbVowel(a, b string) bool {
	if len(b) > len(a) {
		a = b
	}
	return a[len(a)-1] == 'o' || a[len(a)-1] == 'e'
}

// stems returns the stems of words.
func stems[V any](words map[string]V) map[string]bool {
	out := map[string]bool{}
	for w := range words {
		out[stem(w)] = true
	}
	return out
}
