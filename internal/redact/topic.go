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
	place    // has a lock
	device   // is unlocked or encrypted
	typing   // a verb of entering a code
	spelling // says how a word is written
	change   // of one value to another
	saying   // a verb of saying or using a word
	odd      // a word that looks like a password: the text around it is read, and it counts as no topic
	lastClass
)

// isWeak reports whether c is a class of weak topics.
func (c class) isWeak() bool { return c >= network }

// weakTopics are words for what a secret opens, and words that name a secret only in some sentences.
//
//nolint:misspell // words of other languages
var weakTopics = func() map[string]class {
	of := make(map[string]class)
	for c, list := range map[class]string{
		place: `hut barn cabin cottage chest suitcase luggage trunk bike bicycle cabinet drawer barrier boom turnstile
		intercom buzzer
			fob keycard dials storage elevator lift sauna pool gym building flat apartment lobby mailbox basement attic garden
			printer till register parking lot parcel courier porter counter hallway barn boathouse boat clubhouse studio clinic
			gartenhaus schuppen fahrrad koffer truhe schranke pforte klingel hof eingang sauna aufzug rädchen kasse parkhaus tiefgarage
			packstation dachboden waschküche gebäude wohnung lager büro hütte scheune treppenhaus pförtner schalter
			barrière cabane abri vélo valise malle boîte interphone sonnette cave grenier ascenseur molettes parking hall piscine
			garde-meuble caisse entrée consigne bâtiment appartement remise hangar local vestiaire comptoir chalet gardien vigile
			trastero cobertizo bici maleta baúl cajón barrera telefonillo portero sótano ascensor gimnasio consigna ruedas piscina
			caseta edificio piso cajetín bodega almacén mostrador cabaña desván conserje entrada`,
		device: `phone mobile smartphone laptop computer card cards visa mastercard sim esim puk drive disk stick usb folder archive zip
			archives bank banking paywall photos diary camera cam baby monitor tv console inbox pgp gpg luks keepass
			bitwarden 1password veracrypt bitlocker truecrypt cryptomator borg restic binance metamask trezor app hotline demo staging
			server vps nas site landing frame sudo ssh kiosk share
			handy telefon karte kreditkarte girokarte laufwerk platte festplatte ordner archiv bank telefonbanking rechner kamera
			babyfon bilderrahmen fernseher postfach buchhaltung portemonnaie geldkarte sperrbildschirm
			téléphone portable carte disque dossier archives banque ordinateur cadre caméra écran coffre-fort portefeuille serveur
			compta clé-usb télé
			móvil teléfono tarjeta disco carpeta archivo banco ordenador marco cámara pantalla billetera servidor cartera contabilidad
			cajero tele`,
		typing: `type typed press push enter entering keyed dial tap tippe tippst tippen getippt drück drücke drücken gib eingeben
			eingabe wähl wähle tape tapez taper tapes appuie appuyer appuyez compose composer saisis saisir saisissez teclea tecleas
			teclear marca marcar pulsa pulsar introduce introduzca introducir mete prompt prompts says gets lets accepts takes
			verlangt akzeptiert fragt will demande attend accepte pide acepta quiere dices`,
		spelling: `spell spelled spelling spelt capital uppercase lowercase caps underscore hyphen dash lower upper letter letters
			buchstabiere buchstabiert großes kleines groß großgeschrieben kleingeschrieben bindestrich unterstrich großbuchstaben
			épelle épeler majuscule majuscules minuscule minuscules tiret souligné accent attaché
			deletreo deletrea mayúscula mayúsculas minúscula minúsculas guion guión bajo junto hache`,
		saying: `say said sag sagt sage dis dit di digo dice digo asks ask use uses needs need wants want put puts put everywhere yourself
			yourselves brauche braucht nehme nimmt setze mets met mettre pon pone puse poner puesto reset pair paired koppelst koppeln
			merk apunta note noté notes asked`,
		change: `changed replace replaced replaces swap swapped instead nowadays formerly previously statt stattdessen früher ersetze
			ersetzt gilt remplace remplacé remplacer avant cambia cambié cambiar reemplaza antes`,
		network: `internet modem access-point repeater mesh freebox livebox gäste-wlan box wlan-netz wifi wi-fi wlan wlans
		network hotspot router ssid lan vpn netzwerk gastnetz fritzbox réseau red box bluetooth`,
		lock: `lock-box keysafe key-safe bikelock combination-lock wheel wheels kombi tresorkombi schließfach schlüsselkasten
			schlüsseltresor schlüsselsafe vorhängeschloss bügelschloss hoftor haustürcode türschloss hauseingang einfahrt
			briefkastenschloss wohnungsschloss garagentür kellertür cadenas antivol serrure portillon digicodes boîte-à-clés
			cerrojo portón cancela verja door doors gate gates garage safe safes alarm alarms locker lockers lockbox padlock lock
			keypad vault entrance shed
			tür haustür tor tresor safe schloss alarmanlage keller fahrradschloss garagentor briefkasten spind wohnungstür porte
			portail coffre alarme cadenas immeuble digicode casier puerta portal portón caja alarma candado taquilla garaje
			cerradura`,
		account: `account accounts konto konten zugang compte comptes cuenta cuentas user users username usernames benutzer benutzername
			nutzer utilisateur usuario admin root auth keychain streaming voicemail ledger wallet tablet ipad`,
		opening: `decrypts decrypting unlocking disarming reopen getting rings login log-in signs mounts mount restores restore restoring
			opened-with verify verifies validate valider confirm-login aufgeht aufsperren aufmachen summt entsichern
			déchiffrer déchiffre déverrouillé déverrouiller s'ouvrir monter désarmer désarme connecter branche
			descifra descifrar desarmar desbloqueo ábrele ábre validar log logge einloggen anmelden connecte connecter connexion
			inicia iniciar sesión netz unlock unlocks unlocked unlocking
			opens opened disarm disarms disarmed decrypt decrypts encrypted unzip punch protected locked authenticate entsperren
			entsperrt öffnet öffnen geöffnet entschärfen verschlüsselt entschlüsseln aufschließen reinkommen rein déverrouille
			déverrouiller ouvre ouvrir s'ouvre désactive désactiver entrer chiffré abre abrir desbloquea desbloquear desactiva
			desactivar entrar cifrado`,
		vague: `seedphrase seeds mnemonics passcodes pass master credential cvv cvc csc password-hint keyword codewords parole losung
			codewort merkwörter merksatz wiederherstellungswörter wiederherstellungsphrase schlüsselwort pgp-phrase sicherheitsfrage
			lösungswort cryptogramme phrases mnémonique semilla mnemotécnica frases contra santo seña teacher nickname street born
			mädchenname geburtsname lieblingslehrer spitzname naissance surnom préféré préférée profe apodo soltera favorita favorito
			dígitos dígito digits pets haustiername haustiers anniversaire prénom maestra lehrerin autocode fingerprint pattern
			muster schéma patrón sms authenticator-app tan token otp texted code codes key keys combination combo phrase word
			words answer digits secret code-word memorable diceware mnemonic tan
			license licence product activation authenticator recovery backup digit seed maiden pet haustier mascota animal
			schlüssel kombination zahl ziffern antwort wort wörter stichwort merkwort zahlen lizenz lizenzschlüssel
			wiederherstellungscodes zahlenschloss clé clés mot mots réponse combinaison chiffres question clave claves palabra
			palabras respuesta código códigos combinación cifras frase licencia licence respaldo secours récupération recuperación
			restored espacios espaces leerzeichen spaces`,
	} {
		for w := range strings.FieldsSeq(list) {
			if other := of[w]; other != noClass && other != c {
				panic("redact: the topic " + w + " has two classes") // one of them at random
			}
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
	if c := compoundTopic(w); c != noClass {
		return c
	}
	if len(w) > 30 || mayBeTopic[first][last]&(1<<len(w)) == 0 && first < 0x80 {
		return noClass
	}
	return weakTopics[strings.ToLower(w)]
}

// germanEndings end German compounds that are topics: Briefkastenschloss.
var germanEndings = []ending{
	{"schloss", lock},
	{"tresor", lock},
	{"schließfach", lock},
	{"schrank", place},
	{"kasten", place},
	{"tür", lock},
	{"kombi", lock},
	{"haus", place},
	{"konto", account},
	{"netz", network},
	{"wlan", network},
	{"wörter", vague},
	{"phrase", vague},
	{"wort", vague},
	{"frage", vague},
}

var endsCompound = func() (set byteSet) {
	for _, e := range germanEndings {
		set[e.word[len(e.word)-1]] = true
	}
	return set
}()

// compoundTopic returns the class of a German compound, or noClass.
func compoundTopic(w string) class {
	if len(w) < 8 || len(w) > 30 || !endsCompound[w[len(w)-1]] {
		return noClass
	}
	for _, e := range germanEndings {
		if strings.HasSuffix(w, e.word) && len(w) > len(e.word)+2 {
			return e.class
		}
	}
	return noClass
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

// likePassword reports whether a word is letters with a few digits at the end, as people choose passwords.
func likePassword(w string) bool {
	if len(w) < 6 || !digits[w[len(w)-1]] {
		return false
	}
	name := strings.TrimRight(w, "0123456789")
	return len(name) >= 5 && len(w)-len(name) <= 4 && plainName(name)
}

// chosenForms are the forms of words as people choose passwords, and programs draw them. Few names have one of oddForms.
var (
	chosenForms = map[uint32]bool{gStrong: true, gSigned: true, gDrawn: true, gInner: true, gTail: true, gModel: true}
	oddForms    = map[uint32]bool{gSigned: true, gDrawn: true}
)

// leastAround is the number of spaces in a text that says enough about a word of such a form. Alone it may be an id.
const leastAround = 3

// looksChosen returns the end of the word that begins with text[i:j], with its signs, and whether it looks like a password.
func (p *scanner) looksChosen(i, j int) (end int, ok bool) {
	if end = j; j+1 < len(p.s) && strings.IndexByte("!#$&*?%^+~.-", p.s[j]) >= 0 && wordByte[p.s[j+1]] {
		for end < len(p.s) && end-i < maxNoun && p.s[end] > ' ' {
			end++
		}
		end = i + cut(p.s[i:end], false)
	}
	v := p.s[i:end]
	return end, likePassword(v) ||
		len(v) >= 6 && chosenForms[formOf(v)] && strings.IndexByte(v, '@') < 0 && strings.Count(p.s, " ") >= leastAround
}

// topic notes the word for a secret text[i:j], if it is one.
func (p *scanner) topic(c class, i, j, start, end int) {
	if c == noClass && IsShort(p.s) {
		if end, ok := p.looksChosen(i, j); ok {
			p.topics = append(p.topics, topic{i, end, odd})
			return
		}
	}
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
	if c == saying && !IsShort(p.s) {
		return
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
