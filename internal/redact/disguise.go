package redact

import (
	"bytes"
	"encoding/hex"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// disguised looks for instructions in encoded or obfuscated text and returns the reason.
func disguised(text string) (reason string, ok bool) {
	for _, d := range [...]struct {
		name string
		read func(string) string
	}{
		{"letter by letter", spelled},
		{"in hexadecimal", hexadecimal},
		{"in escapes", escaped},
		{"in rot13", rotated},
		{"backwards", backwards},
	} {
		if plain := d.read(text); plain != "" {
			if reason, ok = spoken(plain); ok {
				return d.name + ": " + reason, true
			}
		}
	}
	return encoded(text)
}

// leastSpelling is the shortest run of single letters that counts as spelled out.
const leastSpelling = 8

// spelled returns the words that a text spells letter by letter, or "" if there are none. The most
// frequent separator of a run separates letters; any other separates words.
func spelled(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		letters, between, end := singleLetters(text, i)
		if len(letters) >= leastSpelling {
			out.WriteString(joinLetters(letters, between))
			out.WriteString("\n\n")
		}
		i = end
	}
	return out.String()
}

// singleLetters reads a run of single letters from i on, with their separators. end is the position after
// the run, or, if none begins, after the word or sign at i.
func singleLetters(text string, i int) (letters []rune, between []string, end int) {
	if i > 0 && wordEndsAt(text, i) {
		return nil, nil, i + runeLen(text, i)
	}
	if i+1 < len(text) && alnum[text[i]] && alnum[text[i+1]] {
		return nil, nil, letterEnd(text, i) // the common case: a word
	}
	for at := i; ; {
		r, size := utf8.DecodeRuneInString(text[at:])
		after := at + size
		for after < len(text) && combinesNext(text[after:]) {
			after += runeLen(text, after)
		}
		if !alone(r) || after < len(text) && text[after] != '_' && !wordEndsAt(text, after) {
			return letters, between, max(end, letterEnd(text, i))
		}
		letters, end = append(letters, r), after
		at = after
		for at < len(text) && at < after+4 && strings.IndexByte(" \t.-_*·,/|~+", text[at]) >= 0 {
			at++
		}
		if at == after {
			return letters, between, end
		}
		between = append(between, text[after:at])
	}
}

// letterEnd returns the end of the word at i without underscores, or of a single character.
func letterEnd(text string, i int) int {
	end := wordEnd(text, i)
	if at := strings.IndexByte(text[i:end], '_'); at > 0 {
		return i + at
	}
	return max(end, i+runeLen(text, i))
}

func alone(r rune) bool { return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unspaced(r) }

// combinesNext reports whether text continues with a mark that combines with the previous character.
func combinesNext(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return combines(r) || ignorable(r)
}

// joinLetters joins letters into words. Without separators it splits them at known words.
func joinLetters(letters []rune, between []string) string {
	often := map[string]int{}
	within := ""
	for _, b := range between {
		if often[b]++; often[b] > often[within] {
			within = b
		}
	}
	var out, word strings.Builder
	for i, r := range letters {
		word.WriteRune(folded(r))
		if i+1 == len(letters) || between[i] != within {
			out.WriteString(splitWords(word.String()))
			out.WriteByte(' ')
			word.Reset()
		}
	}
	return out.String()
}

// maxSplit is the longest text in bytes that is split into words.
const maxSplit = 256

// splitWords inserts spaces between the words of a run of letters so that the fewest letters are left
// over.
func splitWords(s string) string {
	g := commands()
	if len(s) > maxSplit || g.lookup([]byte(s)) != unknownWord {
		return s
	}
	const left, word, longest = 3, 1, 24
	cost, from := make([]int, len(s)+1), make([]int, len(s)+1)
	for end := 1; end <= len(s); end++ {
		cost[end], from[end] = cost[end-1]+left, end-1
		for start := max(0, end-longest); start < end-1; start++ {
			if c := cost[start] + word; c < cost[end] && g.ids[s[start:end]] != unknownWord {
				cost[end], from[end] = c, start
			}
		}
	}
	var words []string
	for end := len(s); end > 0; end = from[end] {
		words = append(words, s[from[end]:end])
	}
	var b strings.Builder
	alone := false // the previous word is a single leftover letter
	for _, w := range slices.Backward(words) {
		if b.Len() > 0 && (len(w) > 1 || !alone) {
			b.WriteByte(' ')
		}
		alone = len(w) == 1
		b.WriteString(w)
	}
	return b.String()
}

// leastHex is the least number of hexadecimal pairs that may be text.
const leastHex = 12

// hexadecimal decodes the pairs of hexadecimal digits in a text, with or without spaces.
func hexadecimal(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if !hexByte[text[i]] || i > 0 && wordByte[text[i-1]] {
			continue
		}
		var code []byte
		at := i
		for len(code) < mostEncoded && at+1 < len(text) && hexByte[text[at]] && hexByte[text[at+1]] {
			code = append(code, text[at], text[at+1])
			at += 2
			if at+2 < len(text) && text[at] == ' ' && hexByte[text[at+1]] && hexByte[text[at+2]] {
				at++
			}
		}
		if len(code) >= 2*leastHex {
			if b, err := hex.DecodeString(string(code)); err == nil && likelyText(b) {
				out.Write(b)
				out.WriteString("\n\n")
			}
		}
		i = max(i, at-1)
	}
	return out.String()
}

var hexByte = setOf("a-fA-F0-9")

// leastEscapes is the number of escapes from which a text is decoded.
const leastEscapes = 3

// escaped returns a text with the escapes of URLs, HTML and JSON decoded, or "" if there are few.
func escaped(text string) string {
	n := strings.Count(text, "%") + strings.Count(text, "&#") + strings.Count(text, `\u`) + strings.Count(text, `\x`)
	if n < leastEscapes {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		c, size := escape(text[i:])
		b.WriteString(c)
		i += size
	}
	if out := html.UnescapeString(b.String()); out != text {
		return out
	}
	return ""
}

// escape reads a character, escaped or not.
func escape(s string) (c string, size int) {
	switch {
	case s[0] == '%' && len(s) >= 3:
		if c, err := url.PathUnescape(s[:3]); err == nil {
			return c, 3
		}
	case strings.HasPrefix(s, `\u`) && len(s) >= 6:
		if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
			return string(rune(n)), 6
		}
	case strings.HasPrefix(s, `\x`) && len(s) >= 4:
		if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
			return string(rune(n)), 4
		}
	}
	return s[:1], 1
}

// rotated returns the decoded lines of a text that may be rot13: lines in which letters that are
// rare in most languages are frequent.
func rotated(text string) string {
	return transformLines(text, func(line string) string {
		var often [26]int
		for i := range len(line) {
			if c := line[i] | 0x20; c >= 'a' && c <= 'z' {
				often[c-'a']++
			}
		}
		sum := func(letters string) (n int) {
			for i := range len(letters) {
				n += often[letters[i]-'a']
			}
			return n
		}
		if sum("ertnaoi") >= sum("regnbav") {
			return ""
		}
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z':
				return 'a' + (r-'a'+13)%26
			case r >= 'A' && r <= 'Z':
				return 'A' + (r-'A'+13)%26
			}
			return r
		}, line)
	})
}

// backwards returns the reversed lines of a text that contain everyday words when reversed.
func backwards(text string) string {
	return transformLines(text, func(line string) string {
		n := 0
		for w := range strings.FieldsSeq(line) {
			if len(w) <= 4 && reversedWords[strings.ToLower(w)] {
				n++
			}
		}
		if n < 2 {
			return ""
		}
		b := bytes.Runes([]byte(line))
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		return string(b)
	})
}

// reversedWords holds everyday words, written backwards.
var reversedWords = wordSet(`eht dna lla ruoy uoy rof ton si era fo ot`, `eid red dnu ella enied`, `sel te suot`, `sal sol sadot`)

// transformLines returns the lines of a text, transformed by turn.
func transformLines(text string, turn func(string) string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if plain := turn(line); plain != "" {
			out.WriteString(plain)
			out.WriteString("\n\n")
		}
	}
	return out.String()
}

// placeholderQuery reports whether text embeds an image whose URL has room for data: rendering it
// would leak the data.
func placeholderQuery(text string) bool {
	for i := 0; ; {
		at := strings.Index(text[i:], "![")
		if at < 0 {
			return false
		}
		i += at + 2
		_, target, ok := strings.Cut(text[i:min(len(text), i+512)], "](")
		if !ok {
			continue
		}
		target, _, _ = strings.Cut(target, ")")
		_, query, ok := strings.Cut(target, "=")
		if ok && strings.Contains(target, "://") && (strings.ContainsAny(query, "{}<>[]$") || placeholderName(query)) {
			return true
		}
	}
}

// placeholderName reports whether s is a placeholder name in capitals.
func placeholderName(s string) bool {
	n := run(s, 0, setOf("A-Z_"))
	return n >= 4 && wordEndsAt(s, n)
}
