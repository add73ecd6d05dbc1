//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"slices"
	"strings"
)

// token is a folded word with the sign before it, if that is all that stands there, or ' '. money says that the sign of a
// currency stands before or behind it.
type token struct {
	f     string
	sign  byte
	money bool
}

// formOf returns what kind of value word i is, as its form or its class shows: "@day", "@cash", "@9a" of "3b", "@phone". It
// returns "" for other words. These names are keys of [Keys].
func formOf(ws []token, i int) string {
	f := ws[i].f
	near := func(j int) string {
		if j < 0 || j >= len(ws) {
			return ""
		}
		return ws[j].f
	}
	switch {
	case classes[f] != "":
		return "@" + classes[f]
	case weekDays[strings.TrimSuffix(f, "s")]:
		return "@day"
	case dayWords[f] && f != "uhr":
		return "@date"
	case f[0] > '9':
		if n := len(f) - 1; n > 0 && n < 3 && f[n] >= '0' && f[n] <= '9' {
			return "@a9" // "CE1", "B2"
		}
		if !numberWords[f] {
			return ""
		}
	}
	end := i
	for end+1 < min(len(ws), i+5) && ws[end+1].sign != ' ' && ws[end+1].f[0] <= '9' {
		end++
	}
	last, before, unit := ws[end], near(i-1), near(end+1)
	digits := strings.TrimLeft(f, "0123456789")
	short := len(f) <= 2 && f[0] <= '9'
	switch {
	case hours[unit], hours[digits], end > i && last.sign == ':', beforeHour[before] && (short && len(last.f) == 2 || short && end == i),
		beforeHour[before] && numberWords[f] && unit != "year" && unit != "years":
		return "@hour"
	case currencies[unit], ws[i].money || last.money, end > i && last.sign == ',' && len(last.f) != 1:
		return "@cash"
	case ordinalEndings[digits], short && dayWords[unit], short && end == i && beforeDate[before] && (unit == "" || function[unit]):
		return "@date"
	case end > i && last.sign == '.' && f[0] <= '9':
		return "@9.9"
	case len(digits) == 1 && len(f) <= 3:
		return "@9" + digits
	}
	if unit == "" || function[unit] || unit[0] <= '9' || dayWords[unit] {
		return ""
	}
	return "@" + key(stem(unit))
}

var (
	hours          = wordSet("uhr h am pm heures heure hrs o'clock")
	beforeHour     = wordSet("at um gegen ab las vers past till until nach vor")
	beforeDate     = wordSet("am den le el vom zum au al dem")
	ordinalEndings = wordSet("st nd rd th er")
	currencies     = wordSet("euro euros eur pound pounds quid dollar dollars bucks franken francs peso pesos pence usd gbp chf")
	currencyStems  = stems(currencies)
	weekDays       = wordSet(`monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag
		sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lune marte miercole jueve vierne sabado domingo`)
)

// classes maps names to their class. A person has one thing of a class at a time, and changes it for another one.
var classes = func() map[string]string {
	out := map[string]string{}
	for class, words := range map[string]string{
		"diet": `vegan veganer veganerin vegane vegano vegana vegetarian vegetarier vegetarierin vegetarisch vegetarien
			vegetarienne vegetariano vegetariana pescatarian pescetarier pescetarierin pescovegetariano flexitarian
			flexitarier omnivore keto`,
		"ride": `bus tram bike bicycle ebike e-bike scooter moped metro subway fahrrad rad strassenbahn bahn zug
			roller s-bahn u-bahn velo trottinette autobus tranvia tren bici bicicleta patinete`,
		"auto": `volvo skoda dacia renault peugeot citroen clio twingo fiat panda ford fiesta vivaro opel corsa astra
			volkswagen vw polo passat audi bmw mercedes toyota yaris corolla prius honda nissan leaf micra mazda hyundai
			kia tesla suzuki subaru mitsubishi jeep porsche fabia octavia ibiza kangoo berlingo polestar zoe transit`,
		"fone": `iphone pixel samsung galaxy fairphone xiaomi huawei oneplus nokia motorola`,
		"edit": `vim neovim emacs vscode intellij pycharm sublime zed goland webstorm`,
		"surf": `firefox chrome safari vivaldi`,
		"code": `python java kotlin rust golang typescript javascript ruby php scala elixir perl haskell clojure`,
		"data": `postgres postgresql mysql mariadb sqlite mongodb oracle cockroachdb`,
		"host": `aws azure gcp heroku hetzner digitalocean linode netlify vercel scaleway ovh railway`,
		"ci":   `jenkins travis circleci buildkite teamcity bamboo`,
		"todo": `jira linear trello asana notion clickup basecamp youtrack redmine`,
		"chat": `slack teams discord mattermost zulip whatsapp signal telegram threema`,
		"pkgs": `npm yarn pnpm`,
		"shop": `shopify woocommerce magento`,
		"draw": `figma sketch penpot photoshop canva gimp`,
		"tel":  `o2 vodafone telekom orange movistar pepephone sfr bouygues giffgaff congstar yoigo tesco`,
		"bank": `revolut sparkasse comdirect boursorama bnp santander bbva caixabank monzo barclays hsbc lloyds natwest
			halifax dkb n26`,
		"work": `earlies lates fruhschicht spatschicht nachtschicht`,
	} {
		for w := range wordSet(words) {
			if out[w] != "" {
				panic("facts: " + w + " is in two classes") // one of them at random
			}
			out[w] = class
		}
	}
	return out
}()

// findForms returns the values of a statement by the names of their forms.
func (s *statement) findForms() map[string][]string {
	out := map[string][]string{}
	ws := s.source.tokens(s.ws)
	for i := 0; i < len(ws); i++ {
		form := formOf(ws, i)
		if form == "" || form == "@date" && i > 0 && sinceWords[ws[i-1].f] {
			continue // "from August" is when something holds
		}
		from := i
		for i+1 < len(ws) && ws[i].f[0] <= '9' && ws[i+1].sign != ' ' && ws[i+1].f[0] <= '9' {
			i++
		}
		if month := i + 1; form == "@date" && ws[i].f[0] <= '9' { // "14 May" is one value
			if month < len(ws) && ofWords[ws[month].f] {
				month++
			}
			if month < len(ws) && dayWords[ws[month].f] {
				i = month
			}
		}
		out[form] = append(out[form], strings.TrimSuffix(strings.ToLower(s.source.orig(s.ws[from].from, s.ws[i].to)), "s"))
	}
	return out
}

var sinceWords = wordSet("since seit from von ab depuis du desde")

// wholeNumber returns the number that begins with word i, and the index behind it: "1,150" is one number, as "1150" is.
func wholeNumber(ws []token, i int) (string, int) {
	var out strings.Builder
	out.WriteString(ws[i].f)
	for i++; i < len(ws) && (ws[i].sign == '.' || ws[i].sign == ',') && len(ws[i].f) == 3 && ws[i].f[0] <= '9' && ws[i-1].f[0] <= '9'; i++ {
		out.WriteString(ws[i].f)
	}
	return out.String(), i
}

// tokens returns words with the signs between them.
func (t *text) tokens(ws []word) []token {
	out := make([]token, len(ws))
	for i, w := range ws {
		out[i] = token{f: t.folded(w), sign: ' '}
		if w.from > 0 && (i == 0 || ws[i-1].to == w.from-1) {
			out[i].sign = t.fold[w.from-1]
		}
		out[i].money = w.from > 0 && currencySign(t.runes[w.from-1]) || w.to < len(t.runes) && currencySign(t.runes[w.to]) ||
			w.to+1 < len(t.runes) && t.fold[w.to] == ' ' && currencySign(t.runes[w.to+1])
	}
	return out
}

func currencySign(r rune) bool { return r == '€' || r == '$' || r == '£' }

// otherForms returns the forms in which two statements have values, and no common one.
func otherForms(n, o *statement) (out []string) {
	for form, values := range n.forms() {
		old := o.forms()[form]
		if len(old) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(old, v) }) {
			continue
		}
		out = append(out, form)
	}
	return out
}

// isClass reports whether a form is a class of names.
func isClass(form string) bool { return classNames[form] }

var classNames = func() map[string]bool {
	out := map[string]bool{}
	for _, class := range classes {
		out["@"+class] = true
	}
	return out
}()
