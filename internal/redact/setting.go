package redact

import "strings"

// isSetting reports whether the word for a secret at i ends the name of a setting that begins a line: "wifi_psk: …",
// "export BACKUP_PASS=…". Its value reaches to the end of the line.
func (p *scanner) isSetting(i, j, at int) bool {
	s, start := p.s, i
	for start > 0 && i-start < 2*maxNoun && (wordByte[s[start-1]] || s[start-1] == '.' ||
		s[start-1] == '-' && start > 1 && wordByte[s[start-2]]) {
		start--
	}
	sign := strings.TrimRight(s[j:at], " ")
	if sign == "" || strings.IndexByte(":=", sign[len(sign)-1]) < 0 || start == i && !strings.Contains(s[i:j], "_") && sign != "=" {
		return false
	}
	if first := s[start : start+run(s[start:j], 0, alnum)]; start+len(first) < j && aboutSecrets[strings.ToLower(first)] {
		return false
	}
	line := s[max(0, start-maxNoun):start]
	line = strings.TrimSpace(line[strings.LastIndexByte(line, '\n')+1:])
	return line == "" && (start == 0 || s[start-1] <= ' ') || settingBegins[line]
}

// namesSecretFile reports whether the name of a file says that it holds a secret: /etc/luks.pass.
func namesSecretFile(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return endsWith(name, ".pass", ".psk", ".passwd", ".secret") || namesSecret(name)
}

// isOption reports whether the word for a secret at i ends the name of a setting in an option: --set auth.password=V.
func (p *scanner) isOption(i int) bool {
	start := i
	for start > 0 && i-start < 2*maxNoun && (wordByte[p.s[start-1]] || strings.IndexByte(".-=\"'", p.s[start-1]) >= 0) {
		start--
	}
	end := run(p.s, i, wordByte)
	if end >= len(p.s) || p.s[end] != '=' {
		return false
	}
	near := p.s[max(0, start-16):start]
	option := near[strings.LastIndexByte(strings.TrimRight(near, " "), ' ')+1:]
	return p.s[start] == '-' && start < i || len(option) > 2 && option[0] == '-' && strings.HasSuffix(option, " ")
}

// aboutSecrets begin the names of messages and settings about a secret: reset_password.
var aboutSecrets = wordSet(`reset forgot forgotten change enter confirm repeat wrong invalid missing weak show hide no hint`)

// settingBegins are words and signs before the name of a setting in its line.
var settingBegins = wordSet("- export set env setx const let var local $")

// lineValue returns the end of the value at start that reaches to the end of its line, or 0. A variable of a shell has no
// spaces without quotes.
func (p *scanner) lineValue(start int) int {
	line, _, _ := strings.Cut(p.s[start:min(len(p.s), start+maxValue)], "\n")
	for _, remark := range [...]string{" #", " //", " ;", markerStart} {
		line, _, _ = strings.Cut(line, remark)
	}
	line = strings.TrimRight(line, " \t\r,;\"'")
	if strings.ContainsAny(line, "={}<>$`|\"") || strings.Contains(line, ": ") || explainsSecret(line) {
		return 0
	}
	return start + len(line)
}

// explainsSecret reports whether several words are about a secret rather than the secret: "ask the admin for it".
func explainsSecret(v string) bool {
	first := true
	for w := range strings.FieldsSeq(strings.ToLower(v)) {
		w = strings.Trim(w, ".,;:!?()'\"")
		if explaining[w] || first && (describing[w] || participle(w)) || namesSecret(w) {
			return true
		}
		first = first && (negations[w] || adverbs[w] || fillers[w])
	}
	return false
}

var (
	// explaining are words of the documentation of a setting, and of messages about a secret.
	explaining = wordSet(`password passwords required requires must should at-least characters character digits invalid wrong incorrect
		mismatch match forgot forgotten reset changed expired missing variable optional default defaults see ask asks environment env
		manager config configured generated generate rotate rotated placeholder string field value setting settings user users
		account login admin key vault file secret secrets token tokens docs readme passphrase pin code used input encoder java`,
		`passwort kennwort falsch ungültig erforderlich vergessen ändern geändert abgelaufen fehlt siehe frag frage tresor datei
		zeichen benutzer konto mindestens`,
		`mot passe requis requise invalide incorrect oublié changer expiré expirée voir demande demander fichier caractères
		utilisateur compte coffre`,
		`contraseña requerida requerido inválida incorrecta olvidada cambiar caducada ver pregunta pedir archivo caracteres usuario
		cuenta bóveda`)
	// describing are words that begin what is said about a secret.
	describing = wordSet(`set stored in from via kept same use using read none not unset empty taken comes is are was will can do
		does may
		gesetzt im in aus wie nicht kein leer wird ist
		défini stocké dans même vide est sera
		definida guardada en de misma vacía igual es será`)
)

// headNames are words for secrets that begin the name of a setting in French and Spanish: CLAVE_COPIA.
var headNames = wordSet("clave cle clé mdp motdepasse contrasena contraseña")

// headedSetting reports whether the word is a name of a setting that such a word begins. Keys of a table have none.
func headedSetting(w string) bool {
	head, rest, ok := strings.Cut(w, "_")
	if !ok || !headNames[strings.ToLower(head)] {
		return false
	}
	switch rest, _, _ = strings.Cut(strings.ToLower(rest), "_"); rest {
	case "primaria", "primaire", "foranea", "foránea", "etrangere", "étrangère", "publica", "pública", "publique", "id", "len", "file",
		"fichier", "archivo":
		return false
	}
	return true
}

// isParameter reports whether the word text[i:j] is a parameter of a URL: ?user=ada&password=….
func (p *scanner) isParameter(i, j int) bool {
	return p.followsQuery(i) && j < len(p.s) && p.s[j] == '='
}

// followsQuery reports whether a sign that begins a parameter of a URL stands before i.
func (p *scanner) followsQuery(i int) bool { return i > 0 && (p.s[i-1] == '?' || p.s[i-1] == '&') }

// inBlock reports whether the word at i begins a line among lines of settings: "user: ada" above "password: …".
func (p *scanner) inBlock(i int) bool {
	start := len(strings.TrimRight(p.s[:i], " \t"))
	if start == 0 || p.s[start-1] != '\n' {
		return false
	}
	above := p.s[max(0, start-maxValue) : start-1]
	above = above[strings.LastIndexByte(above, '\n')+1:]
	name, value, ok := strings.Cut(strings.TrimLeft(above, " \t-"), ":")
	return ok && name != "" && run(name, 0, settingByte) == len(name) && (value == "" || value[0] == ' ') && strings.Count(value, " ") < 3
}

var settingByte = setOf("a-zA-Z0-9_.-")
