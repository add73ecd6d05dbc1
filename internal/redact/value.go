package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxValue is the longest value in bytes.
const maxValue = 512

// value redacts the text that is assigned to the word for a secret text[i:j], if it can be a value. What a sentence
// says is left to [scanner.tag].
func (p *scanner) value(c class, i, j int) {
	l, at := p.linked(i, j)
	if l == unlinked || at >= len(p.s) || l == assigned && chosen[c] && !p.inCode(i, j) && p.sentence(c, i, j, at) {
		return
	}
	start, end, quoted := p.read(i, at)
	if strings.HasPrefix(p.s[end:], "</") || l == assigned && c == password && (p.isOption(i) || p.isParameter(i, j)) {
		quoted = true
	}
	if l == assigned && (c == password || c == passphrase || c == secret) && start < end && p.isSetting(i, j, at) {
		if !quoted && !p.isVariable(i) && c != secret {
			if to := p.lineValue(start); to > end {
				end, quoted = to, true
			}
		}
		if v := p.s[start:end]; quoted && strings.Contains(v, " ") && len(v) >= 8 && !explainsSecret(v) && !placeholder(v) &&
			!p.touched(start, end) {
			p.add(kindOf[c], start, end)
			return
		}
	}
	if c == passphrase && !quoted && p.inCode(i, j) && start < end { // several words, to the end of the field
		end = start + len(strings.TrimRight(p.s[start:start+fieldEnd(p.s[start:])], " "))
		quoted = strings.Contains(p.s[start:end], " ")
	}
	if start >= end || p.touched(start, end) {
		return
	}
	if _, known := knownToken(p.s, start); known >= end {
		return // found by its own shape
	}
	if believable(c, l, p.s[start:end], quoted, p.s[end:min(len(p.s), end+3)], p.isVariable(i) || c == password && p.isLiteral(i)) {
		p.add(kindOf[c], start, end)
	}
}

// fieldEnd returns the length of the field of a configuration at the start of s.
func fieldEnd(s string) int {
	s = s[:min(len(s), maxValue)]
	if n := strings.IndexAny(s, "\r\n,;&#\"'`}])<>["); n >= 0 {
		return n
	}
	return len(s)
}

// chosen holds the classes of secrets that people choose and write in sentences.
var chosen = map[class]bool{password: true, passphrase: true, answer: true, pin: true, code: true}

// sentence reports whether the sign between the word text[i:j] and the text at belongs to a sentence: "password: …".
func (p *scanner) sentence(c class, i, j, at int) bool {
	sign := len(strings.TrimRight(p.s[:at], " *")) - 1
	if sign < 0 || p.s[sign] != ':' && (p.s[sign] != '=' || c != pin && c != code) {
		return false
	}
	if _, _, quoted := p.quotation(at); quoted || c == password && p.inBlock(i) {
		return false
	}
	if strings.Contains(p.s[j:at], "`") && strings.Contains(p.s[max(0, i-1):j], "_") {
		return true // the name of a function in an explanation
	}
	return !strings.Contains(p.s[i:j], "_")
}

// nameStart returns the start of the name that reaches to i, at most maxNoun bytes before it.
func (p *scanner) nameStart(i int) int {
	start := i
	for start > 0 && i-start < maxNoun && wordByte[p.s[start-1]] {
		start--
	}
	return start
}

// isVariable reports whether the word at i is the end of the name of an environment variable: DB_PASSWORD.
func (p *scanner) isVariable(i int) bool {
	start := p.nameStart(i)
	end := run(p.s, i, wordByte)
	return end < len(p.s) && (p.s[end] == '=' || declares(before(p.s, start, 8))) && strings.ToUpper(p.s[start:end]) == p.s[start:end]
}

// isLiteral reports whether the value that is assigned to the word at i is text rather than a name in a program: that of a setting
// in a line or field of its own, or an item of a list of assignments.
func (p *scanner) isLiteral(i int) bool {
	start, end := p.nameStart(i), run(p.s, i, wordByte)
	for start > 1 && (p.s[start-1] == '.' || p.s[start-1] == '-') && wordByte[p.s[start-2]] {
		start = p.nameStart(start - 1)
	}
	name := p.s[start:end]
	root, _, _ := strings.Cut(name, ".")
	first, _, _ := strings.Cut(name, "_")
	if end+1 >= len(p.s) || p.s[end] != '=' || p.s[end+1] <= ' ' || codeRoots[root] || aboutSecrets[first] {
		return false
	}
	value := p.s[end+1 : fieldsEnd(p.s, end+1)]
	v := strings.TrimRight(value, ".,;")
	if words := nameSigns.Replace(v); explainsSecret(words) || describesSecret(words) || camel(v) {
		return false
	}
	if start == 0 || p.s[start-1] == '\n' || p.s[start-1] == ' ' {
		return strings.ContainsAny(name, "._") && strings.IndexByte(");,", value[len(value)-1]) < 0
	}
	item := before(p.s, start-1, maxNoun)
	return strings.IndexByte(",;", p.s[start-1]) >= 0 && strings.Contains(item[strings.LastIndexAny(item, " \n(")+1:], "=")
}

// nameSigns divides a name into its words.
var nameSigns = strings.NewReplacer(".", " ", "_", " ", "-", " ")

// quotes lists the opening and closing marks around a value.
var quotes = []struct{ open, close string }{
	{`\"`, `\"`},
	{`"`, `"`},
	{"'", "'"},
	{"```", "```"},
	{"`", "`"},
	{"**", "**"},
	{"“", "”"},
	{"„", "“"},
	{"«", "»"},
	{"‘", "’"},
	{"&quot;", "&quot;"},
	{"<code>", "</code>"},
	{"<b>", "</b>"},
	{"<strong>", "</strong>"},
}

// read returns the bounds of the value that begins at i.
func (p *scanner) read(noun, i int) (start, end int, quoted bool) {
	s := p.s
	if start, end, quoted = p.quotation(i); quoted {
		return start, end, true
	}
	for i < len(s) && strings.IndexByte("\"'`", s[i]) >= 0 {
		i++
	}
	end = i
	for end < len(s) && end-i < maxValue && s[end] > ' ' && !strings.HasPrefix(s[end:], "\u00a0") {
		end++
	}
	end = i + cut(s[i:end], p.followsQuery(noun))
	return i, end, false
}

// cut returns the length of the value at the start of a run without spaces: without the sentence's
// punctuation and the next field of a list.
func cut(s string, query bool) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '`' || c == '|' && i > 0 || c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == 'n'),
			c == '\'' && i > 0 && (wordEndsAt(s, i+1) || !alnum[s[i-1]]),
			c == '<' && i > 0,
			c == '[' && strings.HasPrefix(s[i:], markerStart),
			c == '&' && (query || strings.Contains(s[i:], "=")),
			(c == ',' || c == ';') && strings.ContainsAny(s[i:], "=:"):
			s = s[:i]
		default:
			continue
		}
		break
	}
	if s != "" && !alnum[s[len(s)-1]] {
		s = strings.TrimRight(s, ".,;:?*_>\\\r'”“»’")
	}
	for len(s) > 0 {
		last := s[len(s)-1]
		if at := strings.IndexByte(")]}", last); at < 0 || strings.Count(s, "([{"[at:at+1]) >= strings.Count(s, s[len(s)-1:]) {
			break
		}
		s = strings.TrimRight(s[:len(s)-1], ".,;:?*_'")
	}
	return len(s)
}

// believable decides whether v is the value of a secret of class c that is connected to its name by
// l; rest is the text after it, and literal is whether the value is text, as that of a variable of the environment.
func believable(c class, l link, v string, quoted bool, rest string, literal bool) bool {
	if placeholder(v) || !quoted && l == assigned && !literal && strings.HasPrefix(rest, " -") && rest != " --" {
		return false
	}
	if !quoted && expression(v, rest) && (!literal || c != password || !isDotted(v)) {
		return false
	}
	switch c {
	case pin:
		return digitsOnly(v, 4, 12) || l == assigned && mixed(v) && len(v) >= 4 && len(v) <= 16 && !identifier(v)
	case code:
		v = strings.Trim(v, "#*")
		return digitsOnly(v, 3, 10) || l == assigned && len(v) >= 4 && len(v) <= 24 && mixed(v) && countDigits(v) >= 3 && !identifier(v)
	case cardCodeWord:
		return digitsOnly(v, 3, 4)
	case ssnWord:
		return digitsOnly(strings.NewReplacer("-", "", " ", "").Replace(v), 9, 9)
	case key, token, secret, authorization:
		if quoted && len(v) >= 20 && random(v) && !strings.ContainsAny(v, " /\\<>[],") && !identifier(v) && !nameParts(v) {
			return true // with signs
		}
		return looksRandom(v, c) ||
			literal && l == assigned && len(v) >= 4 && !digitsOnly(v, 1, 12) && !identifier(v) && !predicates[v] && !lowerName(v,
				l, quoted)
	default:
		return passwordLike(l, v, quoted, literal)
	}
}

// passwordLike decides about passwords that people choose: words with or without digits and signs.
func passwordLike(l link, v string, quoted, literal bool) bool {
	if len(v) < 3 || utf8.RuneCountInString(v) > 128 {
		return false
	}
	if l == flag {
		return strongPassword(v) || len(v) >= 6 && !predicate(v)
	}
	if strings.ContainsAny(v, " \t") {
		return quoted && len(v) < 64 && !describesSecret(v)
	}
	if strongPassword(v) || digitsOnly(v, 4, 64) {
		return true
	}
	w := strings.ToLower(v)
	return len(v) >= 4 && !digitsOnly(v, 1, 3) && !predicates[w] && !adjectives[w] &&
		(!lowerName(v, l, quoted) || literal && !strings.Contains(v, "-") && (plainName(v) && !strings.Contains(v, ".") || isDotted(v)) &&
			!namesSecret(w))
}

// isDotted reports whether v is words with dots between them, and no name in code: oak.ash.thorn, but not os.environ.
func isDotted(v string) bool {
	first, rest, ok := strings.Cut(v, ".")
	return ok && plainName(v) && rest != "" && !camel(v) && !codeRoots[strings.ToLower(first)] && !strings.ContainsAny(v, "_-") &&
		!namesSecret(v)
}

// codeRoots begin names in code.
var codeRoots = wordSet(`os env environ process settings setting config conf cfg self this args opts options request req app ctx context
	secrets vault params data db var local module each random string uuid base params credentials auth account user server
	error errors field fields message messages msg type encoder label hint validation i18n e`)

// describesSecret reports whether several words describe a secret: "never stored on disk", but not "correct
// horse battery staple".
func describesSecret(v string) bool {
	words := strings.Fields(v)
	if len(words) == 0 || !predicate(words[0]) {
		return false
	}
	return len(words) < 4 || slices.ContainsFunc(words[1:], predicate)
}

// strongPassword reports whether v cannot be a word of a language.
func strongPassword(v string) bool {
	if len(v) < 4 || identifier(v) {
		return false
	}
	var lower, upper, digit, sign int
	for i, r := range v {
		switch {
		case unicode.IsDigit(r):
			digit++
		case unicode.IsUpper(r):
			if i > 0 {
				upper++
			}
		case unicode.IsLetter(r):
			lower++
		case strings.ContainsRune("!@#$%^&*+?~=", r):
			sign++
		}
	}
	letters := lower + upper
	return digit > 0 && letters > 0 || sign > 0 && letters+digit > 2
}

// identifier reports whether v is code or a name that happens to have digits or capitals: a
// version, a path, an address, an algorithm, a constant.
func identifier(v string) bool {
	if strings.Contains(v, "/") && (strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") ||
		strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "../") || strings.Contains(v, "://")) {
		return true
	}
	w := strings.ToLower(v)
	for _, prefix := range []string{
		"sha1", "sha2", "sha3", "sha-", "sha5", "md5", "base64", "oauth", "rs256",
		"hs256", "es256", "bcrypt", "argon2", "pbkdf2", "utf", "http", "0x", "v1", "v2", "v3", "int32", "int64", "uint", "aes",
		"ed25519", "rsa", "x25519", "curve",
	} {
		if strings.HasPrefix(w, prefix) && len(w) < len(prefix)+10 {
			return true
		}
	}
	return false
}

// looksRandom reports whether v looks randomly generated, like a key or token.
func looksRandom(v string, c class) bool {
	if len(v) < 8 || strings.ContainsAny(v, " \t()<>{}\"'$,;") || identifier(v) || strings.HasPrefix(v, "/") {
		return false
	}
	if !random(v) || countDigits(v) < 2 {
		return digitsOnly(v, 16, 128) || len(v) >= 16 && changes(v) >= len(v)/3
	}
	// Names with a trailing number: my-secret-01, token2024.
	if trimmed := strings.TrimRight(v, "0123456789"); len(v) < 24 && plainName(trimmed) &&
		(c == secret || strings.ContainsAny(trimmed, "-_.")) {
		return false
	}
	return !nameParts(v)
}

// nameParts reports whether v consists of words and numbers with signs between: a resource name
// such as web-frontend-v2-token-7.
func nameParts(v string) bool {
	words := strings.FieldsFunc(v, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' })
	if len(words) < 2 {
		return false
	}
	for _, w := range words {
		if len(w) > 12 || mixed(w) && len(w) > 3 || mixedCase(w) {
			return false
		}
	}
	return true
}

func plainName(v string) bool {
	for _, r := range v {
		if !unicode.IsLetter(r) && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return true
}

// lowerName reports whether v is the name of a thing rather than a password: db-password,
// my_secret, config.password.
func lowerName(v string, l link, quoted bool) bool {
	w := strings.ToLower(v)
	if namesSecret(w) {
		return true
	}
	if !plainName(v) {
		return false
	}
	if l == assigned && !quoted && (strings.ContainsAny(v, "._") || camel(v)) {
		return true
	}
	return false
}

// camel reports whether v has a capital after a small letter.
func camel(v string) bool {
	return lastPart(v) > 0 && !strings.Contains(v, "_")
}

func mixedCase(v string) bool {
	return strings.ToLower(v) != v && strings.ToUpper(v) != v
}

func mixed(v string) bool {
	n := countDigits(v)
	return n > 0 && n < len(v)
}

func countDigits(v string) (n int) {
	for i := range len(v) {
		if digits[v[i]] {
			n++
		}
	}
	return n
}

func digitsOnly(v string, least, most int) bool {
	return len(v) >= least && len(v) <= most && run(v, 0, digits) == len(v)
}

func uuid(v string) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-'
}

// placeholder reports whether v stands in place of a value.
func placeholder(v string) bool {
	w := strings.ToLower(strings.Trim(v, "\"'`*_ "))
	if w == "" || placeholders[w] {
		return true
	}
	switch w[0] {
	case '<', '$', '{', '%', '[', '@':
		return !strings.HasPrefix(w, "@") || len(w) < 4 || plainName(w[1:])
	}
	if strings.Trim(w, w[:1]) == "" || strings.Trim(w, "x*.•-_#") == "" || strings.HasPrefix(w, "...") ||
		strings.HasPrefix(w, "…") || strings.HasPrefix(w, "xxx") || strings.HasPrefix(w, "***") {
		return true
	}
	for _, p := range []string{
		"your", "example-", "insert", "replace", "redacted", "${", "{{", "<", "dummy",
		"enter-", "my-", "my_", "mein", "placeholder",
	} {
		if strings.HasPrefix(w, p) {
			return true
		}
	}
	return strings.Contains(w, "[redacted") || strings.Contains(w, "placeholder") || strings.Contains(w, "${") ||
		strings.Contains(w, "{{") || strings.Contains(w, "...") ||
		strings.Contains(w, "%s") || strings.Contains(w, "%v")
}

// expression reports whether the unquoted v is code that computes a value.
func expression(v, rest string) bool {
	if strings.ContainsAny(v[:1], "$%@&*<({[|!=-\\/+,;:#") &&
		(len(v) < 2 || alnum[v[1]] && plainName(v[1:]) || strings.IndexByte("$<({[|=-\\/,;:#", v[0]) >= 0) {
		return true
	}
	if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "{") {
		return true
	}
	if strings.HasPrefix(v, "![") || strings.HasSuffix(v, "[") {
		return true
	}
	if at := strings.IndexByte(v, '('); at > 0 && alnum[v[at-1]] && plainName(v[:at]) || at >= 0 && (!strings.Contains(v, ")") ||
		strings.HasSuffix(v, ")") && at > 0 && alnum[v[at-1]]) {
		return true
	}
	if strings.HasSuffix(v, "]") && strings.Contains(v, "[") || strings.Contains(v, "->") || strings.Contains(v, "::") {
		return true
	}
	if strings.Contains(v, ".") && plainName(v) && strings.Trim(v, ".") == v {
		return true // config.Password
	}
	return false
}
