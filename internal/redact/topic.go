package redact

import "strings"

// topic is a word for a secret, or for what a secret opens.
type topic struct {
	start, end int
	c          class
}

// Classes of weak topics. They are no secrets, but have one, or name one only in some sentences.
const (
	network class = iota + 64
	lock
	account
	opening
	vague
)

// isWeak reports whether c is a class of weak topics.
func (c class) isWeak() bool { return c >= network }

// weakTopics are words for what a secret opens, and words that name a secret only in some sentences.
//
//nolint:misspell // words of other languages
var weakTopics = func() map[string]class {
	of := make(map[string]class)
	for c, list := range map[class]string{
		network: `wifi wi-fi wlan wlans network hotspot router ssid lan vpn netzwerk gastnetz fritzbox réseau red box bluetooth`,
		lock: `door doors gate gates garage safe safes alarm alarms locker lockers lockbox padlock lock keypad vault entrance shed
			tür haustür tor tresor safe schloss alarmanlage keller fahrradschloss garagentor briefkasten spind wohnungstür porte
			portail coffre alarme cadenas immeuble digicode casier puerta portal portón caja alarma candado taquilla garaje
			cerradura`,
		account: `account accounts konto konten zugang compte comptes cuenta cuentas user users username usernames benutzer benutzername
			nutzer utilisateur usuario admin root auth portal keychain streaming voicemail ledger wallet tablet ipad`,
		opening: `log logge einloggen anmelden connecte connecter connexion inicia iniciar sesión netz unlock unlocks unlocked unlocking
			opens opened disarm disarms disarmed decrypt decrypts encrypted unzip punch protected locked authenticate entsperren
			entsperrt öffnet öffnen geöffnet entschärfen verschlüsselt entschlüsseln aufschließen reinkommen rein déverrouille
			déverrouiller ouvre ouvrir s'ouvre désactive désactiver entrer chiffré abre abrir desbloquea desbloquear desactiva
			desactivar entrar cifrado`,
		vague: `code codes key keys combination combo phrase word words answer digits secret code-word memorable diceware mnemonic tan
			license licence product activation authenticator recovery backup digit seed maiden pet haustier mascota animal
			schlüssel kombination zahl ziffern antwort wort wörter stichwort merkwort zahlen lizenz lizenzschlüssel
			wiederherstellungscodes zahlenschloss clé clés mot mots réponse combinaison chiffres question clave claves palabra
			palabras respuesta código códigos combinación cifras frase licencia licence respaldo secours récupération recuperación
			restored espacios espaces leerzeichen spaces`,
	} {
		for w := range strings.FieldsSeq(list) {
			of[w] = c
		}
	}
	return of
}()

// mayBeTopic holds the first and last bytes and the lengths of weak topics, and of words that are written like one.
var mayBeTopic = func() (set [256][256]uint32) {
	for w := range weakTopics {
		set[w[0]][w[len(w)-1]] |= 1 << min(len(w), 31)
	}
	return set
}()

// weakTopic returns the class of the word text[i:j] as a word that names a secret in some sentences, or noClass.
func weakTopic(w string) class {
	first, last := w[0], w[len(w)-1]
	if first >= 'A' && first <= 'Z' {
		first |= 0x20
	}
	if last >= 'A' && last <= 'Z' {
		last |= 0x20
	}
	if len(w) > 30 || mayBeTopic[first][last]&(1<<len(w)) == 0 && first < 0x80 {
		return noClass
	}
	return weakTopics[strings.ToLower(w)]
}

// longNouns are words for secrets that are recognized with a typo.
var longNouns = [...]struct {
	word string
	class
}{
	{"password", password},
	{"passwort", password},
	{"kennwort", password},
	{"contraseña", password},
	{"passphrase", passphrase},
	{"passcode", password},
	{"passwd", password},
	{"credentials", login},
	{"zugangsdaten", login},
	{"identifiants", login},
	{"credenciales", login},
	{"anmeldedaten", login},
}

// misspelt returns the class of a word for a secret with one letter added, left out, changed or moved, or noClass.
func misspelt(w string) class {
	if len(w) < 5 || len(w) > 13 {
		return noClass
	}
	switch w[0] | 0x20 {
	case 'p', 'k', 'c', 'z', 'i', 'a':
	default:
		return noClass
	}
	w = strings.ToLower(w)
	for _, n := range longNouns {
		if d := len(w) - len(n.word); d >= -2 && d <= 1 && w[0] == n.word[0] && w[len(w)-1] == n.word[len(n.word)-1] && nearly(w, n.word) {
			return n.class
		}
	}
	return noClass
}

// nearly reports whether a becomes b by one change of a letter or an exchange of two neighbours, or by leaving out two
// letters.
func nearly(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	x, y := a[i:len(a)-j], b[i:len(b)-j]
	return len(x) <= 1 && len(y) <= 1 || x == "" && len(y) == 2 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}

// topic notes the word for a secret text[i:j], if it is one.
func (p *scanner) topic(c class, i, j, start, end int) {
	if w := weakTopic(p.s[i:j]); w != noClass && (c == noClass || c == login || c == secret && w == vague) {
		c, start, end = w, i, j
	}
	if start == end { // the end of a longer word
		start = i
	}
	if c == noClass {
		if c = misspelt(p.s[i:j]); c == noClass {
			return
		}
		start, end = i, j
	}
	if c == signIn {
		if w := strings.ToLower(p.s[start:end]); strings.HasPrefix(w, "i") && !p.follows(i, "log", "sign", "logged", "signed") {
			return
		}
	}
	if topicNames[c] == 0 || p.inCode(start, end) || p.isSpeaker(i, j) {
		return
	}
	p.topics = append(p.topics, topic{start, end, c})
}

// isSpeaker reports whether the word text[i:j] says who speaks a line of a conversation: "user: …".
func (p *scanner) isSpeaker(i, j int) bool {
	if i > 0 && p.s[i-1] != '\n' || p.s[i:j] != "user" && p.s[i:j] != "User" {
		return false
	}
	line, _, _ := strings.Cut(p.s[j:min(len(p.s), j+maxValue)], "\n")
	return strings.HasPrefix(line, ": ") && strings.Count(line, " ") > 3
}

// inCode reports whether the name text[i:j] stands in code rather than in a sentence: other rules read its value.
func (p *scanner) inCode(i, j int) bool {
	s := p.s
	if i > 0 && strings.IndexByte("_.$({[<\"'=/&?%", s[i-1]) >= 0 && (strings.IndexByte("(\"/'", s[i-1]) < 0 || i > 1 && alnum[s[i-2]]) {
		return true
	}
	if j < len(s) && strings.IndexByte("_([{<>=&", s[j]) >= 0 || strings.HasPrefix(s[j:], "::") {
		return true
	}
	if j+1 < len(s) && strings.IndexByte(".\"'", s[j]) >= 0 && alnum[s[j+1]] && (s[j] != '\'' || s[j+1] != 's') {
		return true
	}
	at := blanks(s, j)
	return at < len(s) && s[at] == '=' || at+1 < len(s) && s[at] == ':' && s[at+1] == '='
}
