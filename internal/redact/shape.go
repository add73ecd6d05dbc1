package redact

import (
	_ "embed" // the vocabulary
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Sets of the lexicon, as bits of passageWord.sets. The sets are in the order of setWords.
const (
	setCopula     = 0
	setEntering   = 9
	setUsing      = 10
	setGiving     = 11
	setLinking    = 13
	setBecomes    = 15
	setProposing  = 16
	setCompound   = 18
	setPredicate  = 19
	setAdjective  = 20
	setNumeral    = 21
	setWith       = 23
	setNegation   = 27
	setParticiple = 28
	setNames      = 29
)

// setWords are the sets of the lexicon. Those without words are found by the form of a word.
var setWords = [...]struct {
	name  string
	words map[string]bool
}{
	{"copula", copulas},
	{"filler", fillers},
	{"article", articles},
	{"owner", owners},
	{"preposition", prepositions},
	{"conjunction", conjunctions},
	{"pronoun", pronouns},
	{"adverb", adverbs},
	{"interjection", interjections},
	{"entering", entering},
	{"using", using},
	{"giving", giving},
	{"asking", asking},
	{"linking", linking},
	{"changing", changing},
	{"becomes", becomes},
	{"proposing", proposing},
	{"account", accounts},
	{"compound", compounds},
	{"predicate", predicates},
	{"adjective", adjectives},
	{"numeral", numerals},
	{"stop", stops},
	{"with", with},
	{"method", methods},
	{"keeping", keeping},
	{"purpose", purposes},
	{"negation", negations},
	{"participle", nil},
	{"names", nil},
	{"each", each},
	{"codeword", codeFillers},
}

// bySignificance orders the sets by what they say of a word.
var bySignificance = [...]int{
	21, 0, 2, 27, 6, 4, 5, 9, 10, 14, 15, 23, 11, 12, 1, 7, 16, 13, 8, 25, 19, 20, 22, 18, 24, 17, 3, 26, 30, 31,
}

var setHashes = func() (out [len(setWords)]uint32) {
	for i, s := range setWords {
		out[i] = part(s.name)
	}
	return out
}()

// lexicon maps words to the bits of their sets.
var lexicon = sync.OnceValue(func() map[string]uint32 {
	of := make(map[string]uint32, 2048)
	for bit, s := range setWords {
		for w := range s.words {
			of[w] |= 1 << bit
		}
	}
	return of
})

// Classes of shapes.
var (
	gNone, gRemoved, gTopic, gFunction, gPredicate = part("none"), part("removed"), part("topic"), part("function"), part("predicate")
	gCommon, gKnown, gUnknown                      = part("common"), part("known"), part("unknown")
	gNumeral, gDigits, gFewDigits, gLetter         = part("numeral"), part("digits"), part("few digits"), part("letter")
	gStrong, gHyphen, gQuoted, gPlaceholder        = part("strong"), part("hyphen"), part("quoted"), part("placeholder")
	gModel, gSigned, gDrawn, gInner, gTail         = part("model"), part("signed"), part("drawn"), part("inner"), part("tail")
)

// topicNames holds the hashes of the classes of topics.
var topicNames = [lastClass]uint32{
	noClass: gNone, password: part("password"), passphrase: part("passphrase"), pin: part("pin"), cardCodeWord: part("pin"),
	ssnWord: part("pin"), code: part("access"), key: part("key"), token: part("key"), secret: part("secret"), login: part("login"),
	signIn: part("login"), answer: part("answer"), network: part("network"), lock: part("lock"), account: part("account"),
	opening: part("opening"), vague: part("vague"),
	place: part("place"), device: part("device"), typing: part("typing"), spelling: part("spelling"), change: part("change"),
	saying: part("saying"), odd: part("odd"),
}

func (t *passageWord) in(set int) bool { return t.sets&(1<<set) != 0 }

// content reports whether a word is no everyday word.
func (t *passageWord) content() bool {
	return t.group != gFunction && t.group != gPredicate && t.group != gTopic && t.group != gRemoved
}

// binding returns the class of a word, or of the sign after it, that binds what follows to what is before, or 0.
func (t *passageWord) binding() uint32 {
	switch t.mark {
	case ':', '=', '-', '/', '|':
		return markNames[t.mark]
	}
	switch w := strings.Replace(t.w, "’", "'", 1); {
	case t.in(setCopula), w == "it's", w == "that's", w == "c'est":
		return setHashes[setCopula]
	case t.topic == opening:
		return topicNames[opening]
	case t.topic != noClass:
	case t.in(setBecomes), t.in(setLinking), t.in(setWith):
		return setHashes[setBecomes]
	case t.in(setEntering), t.in(setUsing), t.in(setProposing), t.in(setGiving):
		return setHashes[setUsing]
	}
	return 0
}

// classifyWord fills in the classes of a word; first is whether it begins a sentence, and assigned is whether an assignment
// sign stands before it.
func (ps *passage) classifyWord(t *passageWord, first, assigned bool) {
	if t.removed {
		t.main, t.group, t.shape, t.coarse, t.barred = gRemoved, gRemoved, gRemoved, gRemoved, true
		return
	}
	v := ps.s[t.start:t.end]
	w := strings.ReplaceAll(t.w, "’", "'")
	rare := rarity(w)
	if !t.quoted {
		t.sets = setsOf(w, rare, assigned)
	}
	if t.sets&^(1<<setParticiple) != 0 || rare == gCommon {
		t.id = part(w)
	}
	t.shape = shapeOf(v, first)
	if rare != gCommon && len(w) > 4 && plainName(v) {
		at := len(w) - 3
		for !utf8.RuneStart(w[at]) {
			at--
		}
		t.ending = mix(part(w[at:]), rare)
	}
	t.refers = references[w]
	plain := uint32(0)
	if t.topic == noClass && t.sets == 0 {
		plain = formOf(v)
	}
	t.main = t.mainOf(plain, rare)
	t.group = t.groupOf(v, plain, rare)
	t.coarse = coarseOf(t.group)
	t.barred = t.topic != noClass && !t.topic.isWeak() || t.impossible(v)
}

// setsOf returns the sets that a word is in. A word of the lexicon is not looked at by its form. assigned is whether an
// assignment sign stands before it: "password: butterfly".
func setsOf(w string, rare uint32, assigned bool) uint32 {
	sets := lexicon()[w]
	switch {
	case sets != 0:
	case strings.Contains(w, "-") && allNumerals(strings.ReplaceAll(w, "-", " ")):
		return 1 << setNumeral
	case rare != gCommon && namesSecret(w):
		return 1 << setNames
	case endsWith(w, "n't"), !assigned && rare != gUnknown && endsWith(w, "tionally", "mente", "ly"):
		return 1 << setPredicate
	case participle(w):
		return 1 << setParticiple
	}
	return sets
}

// mainOf returns the most telling class of a word.
func (t *passageWord) mainOf(plain, rare uint32) uint32 {
	switch {
	case t.topic != noClass:
		return topicNames[t.topic]
	case t.quoted:
		return gQuoted
	}
	for _, set := range bySignificance {
		if t.in(set) {
			return setHashes[set]
		}
	}
	switch {
	case plain != 0:
		return plain
	case t.in(setParticiple):
		return setHashes[setParticiple]
	}
	return rare
}

// groupOf returns the class of the shape of a word.
func (t *passageWord) groupOf(v string, plain, rare uint32) uint32 {
	switch {
	case t.topic != noClass:
		return gTopic
	case t.quoted && strings.ContainsAny(v, " \t"):
		return gQuoted
	case t.in(setNumeral) && strings.Contains(v, "-"):
		return gDigits
	case t.in(setNumeral):
		return gNumeral
	case plain != 0:
		return plain
	case t.sets&(1<<setPredicate|1<<setAdjective|1<<setParticiple|1<<setCompound|1<<setNames) != 0:
		return gPredicate
	case t.sets != 0:
		return gFunction
	}
	return rare
}

// coarseOf joins classes of shapes: odd words, numbers, everyday words.
func coarseOf(g uint32) uint32 {
	switch g {
	case gStrong, gSigned, gDrawn, gInner, gTail, gModel, gHyphen, gUnknown, gQuoted, gPlaceholder:
		return gUnknown
	case gDigits, gNumeral, gFewDigits, gLetter:
		return gDigits
	case gKnown, gCommon:
		return gKnown
	}
	return g
}

// formOf returns the class of what is no word, or 0.
func formOf(v string) uint32 {
	n := countDigits(v)
	switch {
	case letters(v):
		if utf8.RuneCountInString(v) == 1 {
			return gLetter
		}
		if placeholders[strings.ToLower(v)] {
			return gPlaceholder
		}
		return 0
	case placeholder(v) || expression(v, "") || identifier(v):
		return gPlaceholder
	case n == len(v) && n < 4:
		return gFewDigits
	case n == len(v), n >= 4 && strings.Trim(v, "0123456789-#*./") == "":
		return gDigits
	case signed(v):
		return gSigned
	case len(v) >= 6 && n > 0 && mixedCase(v) && changes(v) >= len(v)/2:
		return gDrawn
	case countLower(v) >= 4 && digitInside(v):
		return gInner
	case likePassword(v):
		return gTail
	case strongPassword(v), strings.ContainsAny(v, "_!#$&*+"):
		if countLower(v) < 4 {
			return gModel
		}
		return gStrong
	case strings.ContainsAny(v, "-."):
		return gHyphen
	}
	return 0
}

// signed reports whether v has letters, and among them signs that names and identifiers do not have: "Tea&Biscuits9".
func signed(v string) bool {
	n, signs := 0, 0
	for i := range len(v) {
		switch c := v[i]; {
		case lowerLetters[c], c >= 'A' && c <= 'Z', c >= 0x80:
			n++
		case strings.IndexByte("!#$&*?%^", c) >= 0 && i > 0 && (i+1 < len(v) && alnum[v[i+1]] || digits[v[i-1]]):
			signs++
		}
	}
	return signs > 0 && n >= 4 && strings.IndexByte("!#$&*?%^", v[0]) < 0
}

// digitInside reports whether v has digits between letters, no signs, and is no hash.
func digitInside(v string) bool {
	rest := strings.Trim(v, "0123456789")
	for i := range len(rest) {
		if !alnum[rest[i]] && rest[i] < 0x80 {
			return false
		}
	}
	return countDigits(rest) > 0 && !isHex(v)
}

// countLower counts the small letters of v.
func countLower(v string) (n int) {
	for i := range len(v) {
		if lowerLetters[v[i]] {
			n++
		}
	}
	return n
}

// letters reports whether v consists of letters, or of characters outside ASCII.
func letters(v string) bool {
	for i := range len(v) {
		if c := v[i] | 0x20; (c < 'a' || c > 'z') && c < utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shapeOf returns the hash of the kinds of characters of a value and of its length.
func shapeOf(v string, first bool) uint32 {
	var lower, upper, inner, digit, sign int
	for i, r := range v {
		switch {
		case r >= 'a' && r <= 'z':
			lower++
		case unicode.IsDigit(r):
			digit++
		case unicode.IsUpper(r):
			upper++
			inner += min(i, 1)
		case unicode.IsLetter(r):
			lower++
		default:
			sign++
		}
	}
	capital := '-'
	switch {
	case inner > 0 && lower > 0:
		capital = 'M'
	case upper > 1 && lower == 0:
		capital = 'U'
	case upper > 0 && first:
		capital = 'F'
	case upper > 0:
		capital = 'C'
	}
	b := [...]int{min(digit, 9), min(lower, 1), min(sign, 1), min(9, (len(v)+1)/2)}
	h := part(string(capital))
	for _, n := range b {
		h = mix(h, uint32(n))
	}
	return h
}

// impossible reports whether a word cannot be part of a secret by its form.
func (t *passageWord) impossible(v string) bool {
	switch {
	case t.group == gLetter || t.group == gNumeral || len(v) == 1:
		return false
	case letters(v):
		return placeholders[t.w] || strings.HasPrefix(t.w, "your") || strings.HasPrefix(t.w, "xxx")
	case placeholder(v) || ofCode(v):
		return true
	case t.quoted:
		return false
	case strings.ContainsAny(v, "(){}[]<>") || strings.IndexByte("$/\\=-+", v[0]) >= 0 || strings.Contains(v, "://"):
		return true
	case strings.Contains(v, ".") && strings.Trim(v, "0123456789.") == "" || clock(v):
		return true // a version, an address, a time
	}
	name, host, ok := strings.Cut(v, "@")
	return ok && name != "" && strings.Contains(host, ".") || identifier(v)
}

// ofCode reports whether v is written in code or names a part of it: the name of a file, of a column or of a thing that has
// a secret, the tag of a field, keys of a keyboard, a setting with a number.
func ofCode(v string) bool {
	w := strings.ToLower(v)
	name, value, set := strings.Cut(w, "=")
	switch key, rest, _ := strings.Cut(w, "+"); {
	case strings.Contains(v, `:"`), endsBefore(w, '/', mediaTypes), endsBefore(w[strings.LastIndexByte(w, '@')+1:], ':', hashNames),
		endsBefore(w, '-', hashNames):
		return true
	case set:
		return plainName(name) && digitsOnly(value, 1, 12) && !namesSecret(name)
	case keyboardKeys[key] && rest != "":
		return true
	case !plainName(w):
		return false
	}
	if at := strings.LastIndexByte(w, '.'); at > 0 && fileEndings[w[at+1:]] {
		return true
	}
	if !strings.ContainsAny(w, "_-") {
		return false
	}
	parts := strings.FieldsFunc(w, func(r rune) bool { return r == '_' || r == '.' })
	return namesSecret(w) || len(parts) > 1 && (columnBegins[parts[0]] || columnEnds[parts[len(parts)-1]])
}

// endsBefore reports whether v begins with one of names before a sign.
func endsBefore(v string, sign byte, names map[string]bool) bool {
	at := strings.IndexByte(v, sign)
	return at > 0 && names[v[:at]]
}

var (
	fileEndings = wordSet(`ts tsx js jsx mjs go py rb rs java kt php cs cpp swift vue css scss html sql sh yaml yml json toml ini conf
		cfg xml md txt csv log lock pdf docx xlsx tf tfvars gradle proto`)
	mediaTypes   = wordSet("text image application audio video multipart font")
	hashNames    = wordSet("sha256 sha1 sha512 md5 sha")
	keyboardKeys = wordSet(`ctrl strg alt altgr cmd shift umschalt meta option super maj mayús`)
	// columnBegins and columnEnds begin and end the names of columns and settings: min_length, customer_id.
	columnBegins = wordSet(`min max is has num`)
	columnEnds   = wordSet(`id ids uuid nr no num number name key keys url uri path type count len length size hash ttl timeout enabled
		status at`)
)

// clock reports whether v is a time such as 14:30.
func clock(v string) bool {
	hour, minute, ok := strings.Cut(v, ":")
	return ok && digitsOnly(hour, 1, 2) && len(minute) >= 2 && digitsOnly(minute[:2], 2, 2)
}

//go:embed vocabulary.bin
var vocabularyFile string

// The sizes of the two Bloom filters of vocabulary.bin in bits: of common words, and of all known ones.
const (
	commonBits = 1 << 18
	knownBits  = 3 << 19
)

// rarity returns the class of a word by its frequency in English, German, French and Spanish.
func rarity(w string) uint32 {
	switch {
	case len(w) < 3 || inFilter(vocabularyFile[:commonBits/8], w):
		return gCommon
	case inFilter(vocabularyFile[commonBits/8:], w):
		return gKnown
	}
	return gUnknown
}

// inFilter reports whether a word is in a Bloom filter, which a few others seem to be.
func inFilter(filter, w string) bool {
	h := part(w)
	for k := range uint32(filterHashes) {
		at := mix(h, k) % uint32(len(filter)*8)
		if filter[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

const filterHashes = 4

// changes counts where letters and digits, or small letters and capitals, stand beside each other.
func changes(v string) (n int) {
	kind := func(c byte) int {
		switch {
		case digits[c]:
			return 1
		case lowerLetters[c]:
			return 2
		case c >= 'A' && c <= 'Z':
			return 3
		}
		return 0
	}
	for i := 1; i < len(v); i++ {
		if a, b := kind(v[i-1]), kind(v[i]); a != b && a != 0 && b != 0 {
			n++
		}
	}
	return n
}

// isHex reports whether v is a hash or a number in base 16.
func isHex(v string) bool { return run(v, 0, hexLower) == len(v) || run(v, 0, hexUpper) == len(v) }

var hexUpper = setOf("A-F0-9")
