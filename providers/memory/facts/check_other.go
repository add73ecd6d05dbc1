package facts

import "regexp"

var (
	regexpNochNicht = pattern(`\bnoch nicht\b|\bnie\b`)
	germanPassing   = pattern(`\b(?:kaputt|nicht|langsam|schlecht|gut|super|ein problem|einen fehler|probleme|fehler)\b`)
	germanArticle   = pattern(`^(?:das|die|der|den|dem|diese[nrs]?|folgende[nrs]?|es|dafur|dazu|deine?n?|dich|dir|so)\b`)
)

// germanTool requires a named tool in use.
func germanTool(m *match) bool {
	return !germanArticle().MatchString(m.foldedValue()) && (isSpecific(m.value) || m.t.careless)
}

// inFuture returns a check that requires a future time and none of some words.
func inFuture(without string) func(*match) bool {
	re := pattern(`\b(?:` + without + `)\b`)
	return func(m *match) bool {
		return m.time != nil && m.time.AheadFrom.After(m.today()) && !re().MatchString(string(m.t.fold[m.from:m.to]))
	}
}

// isOver rejects future times.
func isOver(m *match) bool { return m.time == nil || !m.time.From.After(m.extractor.at) }

// inPast requires a past time.
func inPast(m *match) bool {
	return m.time != nil && !m.time.From.After(m.extractor.at) && (m.time.From.Before(m.today()) || m.time.From.Equal(m.today()))
}

var cues = map[string]func() *regexp.Regexp{
	"de": pattern(`merk|denk|behalt|vergiss|notier|beacht|erinner|speicher`),
	"es": pattern(`recuerda|ten en|no olvides|apunta|anota|acuerd|toma nota|guarda`),
	"fr": pattern(`souviens|retiens|oublie|note bien|garde|rappelle|sache`),
}

// askedToRememberIn returns a check that the speaker asked, in the given language, to remember the statement.
func askedToRememberIn(code string) func(*match) bool {
	return func(m *match) bool {
		language := "en"
		for c, re := range cues {
			if re().MatchString(m.set.cue) {
				language = c
			}
		}
		return language == code && askedToRemember(m)
	}
}

var frenchStatement = pattern(`^(?:ne (?:sais|suis|peux|comprends|pense|crois|vois|veux|me suis|m'a|` +
	`s'est|sera|fait|marche|fonctionne|vais)|jamais (?:vu|ete|eu|entendu)|toujours (?:le|la|les|pas|un|une|en train)|jamais$)`)

// frenchOrder requires an order, because the pattern also matches statements.
func frenchOrder(m *match) bool { return !frenchStatement().Match(m.t.fold[m.at:m.to]) }
