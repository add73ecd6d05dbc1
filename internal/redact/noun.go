package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
)

// class is the kind of secret that a word names. It decides how random a value must look.
type class uint8

const (
	noClass class = iota
	password
	passphrase
	pin
	code   // of a door, an alarm, a second factor
	key    // an API key
	token  // and other random values
	secret // a client secret
	cardCodeWord
	ssnWord
	seed // the seed words of a wallet
	bearer
	basic
	authorization
	cookie
	session
	login   // a name and a password
	signIn  // a verb of logging in
	command // a command with a password among its arguments
	answer  // to a security question, or a code word
)

var kindOf = map[class]string{
	password: Password, passphrase: Passphrase, pin: PIN, code: AccessCode, key: APIKey, token: Token, secret: Secret,
	cardCodeWord: CardCode, ssnWord: SSN, seed: Passphrase, bearer: Token, basic: Password, authorization: Token,
	cookie: Cookie, session: Cookie, answer: Secret,
}

// ending is a word at the end of a name, and its class.
type ending struct {
	word string
	class
}

// endings are words for secrets that are recognized at the end of a longer word, too: DB_PASSWORD,
// dbPassword, pgpassword, Datenbankpasswort.
var endings = []ending{
	{"password", password},
	{"passwort", password},
	{"kennwort", password},
	{"passwd", password},
	{"passcode", password},
	{"contraseña", password},
	{"contrasena", password},
	{"wachtwoord", password},
	{"keymaterial", password},
	{"passphrase", passphrase},
	{"geheimzahl", pin},
	{"geheimwort", password},
	{"losungswort", password},
	{"codewort", password},
	{"codeword", password},
	{"safeword", password},
	{"kombination", code},
	{"torcode", code},
	{"türcode", code},
	{"pincode", code},
	{"alarmcode", code},
	{"tresorcode", code},
	{"zugangscode", code},
	{"geheimcode", code},
	{"entsperrcode", code},
	{"digicode", code},
	{"secret_key_base", token},
	{"token", token},
	{"secret", secret},
	{"apikey", key},
	{"accesskey", key},
	{"secretkey", key},
	{"authkey", key},
	{"schlüssel", key},
	{"schluessel", key},
	{"motdepasse", password},
	{"tuercode", code},
}

// endingsBy holds the endings by their last byte.
var endingsBy = func() (by [256][]ending) {
	for _, e := range endings {
		last := e.word[len(e.word)-1]
		by[last] = append(by[last], e)
	}
	return by
}()

// phraseNames follow a word for a phrase in French and Spanish.
var phraseNames = []string{" secrète", " de passe", " de récupération", " secreta", " de paso", " de recuperación", " de contraseña"}

// parts are words for secrets that must stand alone or be the last part of an identifier: db_pass,
// dbPass.
var parts = map[string]class{
	"pass": password, "pwd": password, "pw": password, "mdp": password, "senha": password, "пароль": password, "passe": password,
	"parola": password, "psk": password, "pin": pin, "code": code, "código": code, "codigo": code, "codes": code,
	"puk": pin, "cpin": pin, "combination": code, "combo": code, "otp": code, "sicherheitscode": code,
	"bestätigungscode": code, "freischaltcode": code, "key": key, "clé": key, "cle": key, "clave": key, "llave": key,
	"jeton": token, "sig": token, "cvv": cardCodeWord, "cvc": cardCodeWord, "cvv2": cardCodeWord, "cvc2": cardCodeWord, "ssn": ssnWord,
	"security": ssnWord, "phrase": seed, "words": seed, "pins": pin, "frase": seed, "mnemonic": seed,
	"answer": answer, "antwort": answer, "réponse": answer,
	"respuesta": answer,
	"word":      answer, "keyword": answer, "wort": answer, "palabra": answer, "mot": answer, "bearer": bearer, "basic": basic,
	"authorization": authorization, "cookie": cookie,
	"in": signIn, "into": signIn, "connecte-toi": signIn, "entra": signIn, "melde": signIn, "account": login, "anmeldung": login,
	"zugang": login, "connexion": login, "acceso": login, "accès": login, "auth": signIn,
	"login": login, "logins": login, "credentials": login, "creds": login, "zugangsdaten": login, "anmeldedaten": login,
	"credenciales": login, "identifiants": login, "passwords": login, "passwörter": login, "wifi": login, "wlan": login,
	"identified": command, "htpasswd": command, "net": command, "requirepass": command, "masterauth": command, "sqlplus": command,
	"echo": command, "printf": command,
	"convertto": command, "wpa_passphrase": command, "enable": command,
	"session": session, "sessionid": session, "sid": session, "phpsessid": session, "jsessionid": session, "sess": session,
	"prüfziffer": cardCodeWord, "prüfnummer": cardCodeWord, "kartenprüfnummer": cardCodeWord, "cryptogramme": cardCodeWord,
}

// lastBytes holds the last bytes of these words, in either case. It spares most words a look-up.
var lastBytes = func() *[256]bool {
	var set [256]bool
	add := func(w string) {
		set[w[len(w)-1]] = true
		set[strings.ToUpper(w)[len(strings.ToUpper(w))-1]] = true
	}
	for _, e := range endings {
		add(e.word)
	}
	for w := range parts {
		add(w)
	}
	for c := '1'; c <= '9'; c++ { // password2
		set[c] = true
	}
	return &set
}()

// maybeNoun is a quick test that rejects most words.
func maybeNoun(w string) bool {
	return len(w) >= 2 && (lastBytes[w[len(w)-1]] || (w[0]|0x20 == 'c' || w[0]|0x20 == 'm') && headedSetting(w))
}

// maxNoun is the length in bytes of the end of an identifier that is inspected.
const maxNoun = 24

// classify returns the class of the word text[i:j], the start of the naming word and the end of its
// phrase: for "clé d'API" the end is after "API".
func (p *scanner) classify(i, j int) (c class, start, end int) {
	if last := j - 1; p.s[last] >= '1' && p.s[last] <= '9' { // password2 = …
		w := strings.ToLower(p.s[max(i, last-maxNoun):last])
		for _, e := range endingsBy['d'] {
			if e.class == password && strings.HasSuffix(w, e.word) && p.isAssigned(j) {
				return password, j, j
			}
		}
		return noClass, j, j
	}
	tail := max(i, j-maxNoun)
	w := strings.ToLower(p.s[tail:j])
	if parts[w] == command {
		return command, i, j
	}
	if headedSetting(p.s[i:j]) {
		return password, i, j
	}
	for _, e := range endingsBy[w[len(w)-1]] {
		if strings.HasSuffix(w, e.word) {
			if strings.HasSuffix(w, "publickeytoken") {
				return noClass, j, j
			}
			if e.class == key && p.follows(i, "wlan", "wifi", "netzwerk") {
				return password, j, j
			}
			return e.class, j, j
		}
	}
	part := w
	start = tail
	if at := lastPart(p.s[tail:j]); at > 0 && len(w) == j-tail {
		part, start = w[at:], tail+at
	}
	c, end = p.qualify(parts[part], part, start, j)
	return c, start, end
}

// isAssigned reports whether a value is assigned to the name that ends at j, and the name of no other secret.
func (p *scanner) isAssigned(j int) bool {
	sign := blanks(p.s, run(p.s, j, quoteByte))
	if sign+1 >= len(p.s) || p.s[sign] != '=' && p.s[sign] != ':' || p.s[sign+1] == '=' {
		return false
	}
	start, end, _ := p.read(j, blanks(p.s, sign+1))
	v := p.s[start:end]
	return v != "" && !namesSecret(strings.TrimRight(v, "0123456789")) && !strings.Contains(v, " ")
}

var quoteByte = setOf("\"'")

// lastPart returns the start of the last part of an identifier: after an underscore, or at a
// capital after a small letter.
func lastPart(w string) int {
	for i := len(w) - 1; i > 0; i-- {
		if w[i-1] == '_' || w[i] >= 'A' && w[i] <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z' {
			return i
		}
	}
	return 0
}

// qualify classifies words that name a secret only together with another word, and returns the end
// of their phrase.
func (p *scanner) qualify(c class, word string, i, j int) (class, int) {
	switch c {
	case key:
		return p.qualifyKey(word, i, j)
	case code:
		return p.qualifyCode(word, i, j)
	case seed:
		switch {
		case word == "mnemonic", p.follows(i, "seed", "recovery", "mnemonic", "secret", "bip39", "bip-39", "wallet", "word",
			"backup", "key", "pass", "vault"):
			return passphrase, j
		}
		if n := p.leads(j, phraseNames); n > 0 {
			return passphrase, j + n
		}
		return noClass, j
	case answer:
		return p.qualifyAnswer(word, i, j)
	case pin:
		if p.follows(i, "gpio") {
			return noClass, j
		}
	case ssnWord:
		if word == "security" && !p.follows(i, "social") {
			return noClass, j
		}
	case password:
		if word == "pass" && p.follows(i, "user/", "username/", "name/", "login/", "id/") {
			return login, j
		}
		if word == "passe" && !p.follows(i, "mot de") || word == "pass" && p.follows(i, "to", "can", "you", "must", "and") {
			return noClass, j
		}
	case token:
		if word == "sig" && (j >= len(p.s) || p.s[j] != '=') {
			return noClass, j
		}
	default:
	}
	return c, j
}

// qualifyAnswer classifies the answer to a security question, and code words.
func (p *scanner) qualifyAnswer(word string, i, j int) (class, int) {
	switch word {
	case "word":
		if p.follows(i, "code", "safe", "secret") {
			return password, j
		}
	case "palabra", "mot":
		if n := p.leads(j, []string{" secreta", " secret"}); n > 0 && wordEndsAt(p.s, j+n) {
			return password, j + n
		}
	case "keyword":
		if near := before(p.s, i, 64); strings.Contains(near, "alarm") || strings.Contains(near, "code") || strings.Contains(near,
			"pin") {
			return password, j
		}
	default:
		if strings.Contains(after(p.s, j, 40), "security question ") {
			return answer, j
		}
		if n := p.leads(j, []string{
			" secrète", " secreta", " de seguridad", " de sécurité", " auf die sicherheitsfrage",
			" to the security question",
		}); n > 0 {
			return answer, j + n
		}
		near := before(p.s, i, 64)
		if p.follows(i, "security", "secret") || strings.Contains(near, "security question") || strings.Contains(near,
			"secret question") ||
			strings.Contains(near, "sicherheitsfrage") || strings.Contains(near, "pregunta de seguridad") || strings.Contains(near,
			"question secrète") {
			return answer, j
		}
	}
	return noClass, j
}

func (p *scanner) qualifyKey(word string, i, j int) (class, int) {
	if p.follows(i, "wifi", "wi-fi", "wlan", "network", "netzwerk", "wpa", "wpa2", "wpa3", "wep") {
		return password, j
	}
	if n := p.leads(j, []string{" wifi", " wi-fi", " wpa", " du wifi", " del wifi"}); n > 0 && wordEndsAt(p.s, j+n) {
		return password, j + n
	}
	if word == "key" && strings.Contains(before(p.s, i, 40), "ssid") {
		return password, j
	}
	if p.leads(j, []string{" primaria", " primaire", " foránea", " étrangère"}) > 0 || p.follows(i, "palabra", "palabras") {
		return noClass, j // of a table, or a keyword
	}
	if word == "key" {
		if p.follows(i, keyWords...) || p.isFor(j, "api", "service", "account", "server", "cluster") {
			return key, j
		}
		return noClass, j
	}
	if n := p.leads(j, []string{" de acceso"}); n > 0 && word == "clave" {
		return password, j + n
	}
	if n := p.leads(j, keyPhrases); n > 0 {
		return key, j + n
	}
	if word == "clave" {
		return password, j
	}
	return noClass, j
}

func (p *scanner) qualifyCode(word string, i, j int) (class, int) {
	if n := p.leads(j, codePhrases); n > 0 && wordEndsAt(p.s, j+n) {
		return code, j + n
	}
	if n := p.leads(j, []string{" wifi", " du wifi", " de la wifi", " del wifi"}); n > 0 {
		return password, j + n
	}
	switch {
	case word == "code" && p.follows(i, "wifi", "wi-fi", "wlan"):
		return password, j
	case word == "code" && p.follows(i, "security"):
		return cardCodeWord, j
	case word == "combination":
		return map[bool]class{true: code, false: noClass}[p.follows(i, "safe", "lock", "door", "the", "locker", "my", "vault")], j
	case word != "code" && word != "codes" && word != "código" && word != "codigo", p.follows(i, codeWords...), p.isFor(j,
		placesOfCodes...):
		return code, j
	}
	return noClass, j
}

// follows reports whether one of words stands before i.
func (p *scanner) follows(i int, words ...string) bool {
	preceding := strings.TrimRight(before(p.s, i, 20), " -_.'’")
	for _, w := range words {
		if strings.HasSuffix(preceding, w) {
			return true
		}
	}
	return false
}

// isFor reports whether the text after j states the purpose of a key or code: "for the front door".
func (p *scanner) isFor(j int, words ...string) bool {
	following := after(p.s, j, 48)
	if end := strings.IndexAny(following, ".:\n,"); end >= 0 {
		following = following[:end]
	}
	first, rest, _ := strings.Cut(strings.TrimLeft(following, " "), " ")
	if !prepositions[first] || following == "" || following[0] != ' ' {
		return false
	}
	for w := range strings.FieldsSeq(rest) {
		w = strings.TrimPrefix(strings.TrimPrefix(w, "l'"), "l’")
		if slices.Contains(words, w) {
			return true
		}
	}
	return false
}

// leads returns the length of the phrase that stands at j, or 0.
func (p *scanner) leads(j int, phrases []string) int {
	for _, w := range phrases {
		if len(p.s)-j >= len(w) && strings.EqualFold(p.s[j:j+len(w)], w) {
			return len(w)
		}
	}
	return 0
}

// noun redacts the value of the secret of class c that the word at i names; start and end are those of its name.
func (p *scanner) noun(c class, i, start, end int) {
	switch c {
	case noClass, login, signIn: // [scanner.call] reads what signing in gets
	case bearer, basic:
		p.scheme(c, i, end)
	case command:
		p.positional(i, end)
	case cookie:
		p.cookies(end)
	case session:
		p.session(start, end)
	default:
		p.value(c, i, end)
	}
}

// scheme redacts the credential after "Bearer" or, in a header, "Basic".
func (p *scanner) scheme(c class, i, j int) {
	at := blanks(p.s, j)
	if at == j || c == basic && !strings.Contains(before(p.s, i, 24), "auth") {
		return
	}
	end := run(p.s, at, credentialByte)
	if v := strings.TrimRight(p.s[at:end], "."); len(v) >= 8 &&
		(c == basic && nameAndPassword(v) || c == bearer && (random(v) || len(v) >= 32)) && !placeholder(v) && !p.touched(at, end) {
		p.add(kindOf[c], at, at+len(v))
	}
}

// nameAndPassword reports whether v is a name and password in base64.
func nameAndPassword(v string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	return err == nil && bytes.IndexByte(b, ':') >= 0
}

var credentialByte = setOf("a-zA-Z0-9._~+/=-")

// session redacts "sessionid=…", but not a session's name in data: the value of a cookie is long,
// mixed and no UUID.
func (p *scanner) session(i, j int) {
	if j >= len(p.s) || p.s[j] != '=' || (i > 0 && p.s[i-1] == '_') {
		return
	}
	p.cookieValue(j+1, 16)
}

func (p *scanner) cookieValue(i, least int) {
	const most = 1024
	end := i + run(p.s[i:min(len(p.s), i+most)], 0, cookieByte)
	if v := p.s[i:end]; len(v) >= least && random(v) && !uuid(v) && !placeholder(v) && !p.touched(i, end) {
		p.add(Cookie, i, end)
	}
}

var cookieByte = setOf("a-zA-Z0-9._~+/=%:|!*-")

// cookies redacts the values of a "Cookie:" or "Set-Cookie:" header.
func (p *scanner) cookies(j int) {
	s := p.s
	if j >= len(s) || s[j] != ':' || j < p.header {
		return
	}
	i := j
	for i < len(s) && s[i] != '\n' && s[i] != '"' && s[i] != '\'' {
		if s[i] == '=' {
			p.cookieValue(i+1, 8)
			i = max(i+1, run(s, i+1, cookieByte))
			continue
		}
		i++
	}
	p.header = i
}

// touched reports whether text[i:j] contains a redaction or ends at one.
func (p *scanner) touched(i, j int) bool {
	near := p.s[max(0, i-markerMax):i]
	if at := strings.LastIndex(near, markerStart); at >= 0 && !strings.Contains(near[at:], "]") {
		return true
	}
	return strings.HasPrefix(p.s[j:], markerStart) || i > 0 && p.s[i-1] == ']' || strings.Contains(p.s[i:j], markerStart)
}
