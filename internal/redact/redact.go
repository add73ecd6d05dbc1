package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Kinds of secrets that [Redact] removes.
const (
	Password    = "password"
	Passphrase  = "passphrase" // several words, including the seed words of a wallet
	PIN         = "pin"
	AccessCode  = "access code" // of a door, an alarm or a second factor
	APIKey      = "api key"
	Token       = "token"
	Secret      = "secret"
	PrivateKey  = "private key"
	Cookie      = "cookie"
	Webhook     = "webhook"
	CardNumber  = "card number"
	CardCode    = "card code" // the three or four digits on a card
	BankAccount = "bank account"
	SSN         = "social security number"
)

// Finding is the position of a secret, never the secret.
type Finding struct {
	Kind string `json:"kind"` // one of the constants of this package
	// Start and End are byte offsets in the original text; End is exclusive.
	Start int `json:"start"`
	End   int `json:"end"`
}

const (
	markerStart = "[redacted: "
	markerMax   = len(markerStart) + 40
)

// maxRounds bounds how often a text is scanned again after a removal.
const maxRounds = 8

// Redact returns text with every secret replaced by "[redacted: kind]", and the findings in the
// order of the text. Findings do not overlap.
func Redact(text string) (string, []Finding) {
	redacted := text
	var found []Finding
	// A removed secret can reveal or hide another one next to it, so the text is scanned until
	// nothing new is found. Almost always the second scan is the last; even adversarial text needs
	// few.
	for range maxRounds {
		s := scanner{s: redacted}
		s.run()
		s.tag()
		if len(s.found) == 0 {
			break
		}
		found = merge(append(found, original(s.found, found)...))
		redacted = replace(text, found)
	}
	return redacted, found
}

// replace substitutes a marker for each finding.
func replace(text string, found []Finding) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start])
		b.WriteString(markerStart)
		b.WriteString(f.Kind)
		b.WriteByte(']')
		at = f.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// original maps findings in a text from which done was removed to offsets of the original text.
// Both lists are sorted, so one pass is enough.
func original(found, done []Finding) []Finding {
	if len(done) == 0 {
		return found
	}
	found = merge(found)
	next, shift := 0, 0 // the next of done; the offset difference to the original
	place := func(at int, end bool) int {
		for next < len(done) {
			start := done[next].Start - shift
			after := start + len(markerStart) + len(done[next].Kind) + 1
			if at < after || end && at == after {
				if at > start {
					return map[bool]int{false: done[next].Start, true: done[next].End}[end]
				}
				break
			}
			shift = done[next].End - after
			next++
		}
		return at + shift
	}
	for i, f := range found {
		found[i].Start = place(f.Start, false)
		found[i].End = place(f.End, true)
	}
	return found
}

// merge sorts findings and joins overlapping ones; the first one sets the kind.
func merge(found []Finding) []Finding {
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, cmp.Compare(a.Kind, b.Kind))
	})
	out := found[:0]
	for _, f := range found {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, f.End)
			continue
		}
		out = append(out, f)
	}
	return out
}

// scanner scans a text once, word by word. A secret with its own shape is found at its first word;
// a word for a secret looks ahead for its value.
type scanner struct {
	s      string
	found  []Finding
	header int // end of the last cookie header
	topics []topic
	words  *[cachedWords]readWord
}

func (p *scanner) add(kind string, start, end int) {
	p.found = append(p.found, Finding{kind, start, end})
}

func (p *scanner) run() {
	for i := 0; i < len(p.s); {
		switch c := p.s[i]; {
		case wordByte[c]:
			i = p.word(i, wordEnd(p.s, i))
		case c >= 0x80:
			if end := wordEnd(p.s, i); end > i {
				i = p.word(i, end)
			} else {
				i += runeLen(p.s, i)
			}
		case c == '(':
			p.call(i)
			i++
		case c == '[':
			i += max(1, marker(p.s[i:]))
		case c == '-' && strings.HasPrefix(p.s[i:], pemBegin):
			i = p.pem(i)
		case (c == '-' || c == '/') && i > 0 && p.s[i-1] == ' ':
			p.option(i)
			i++
		case c == '<' && strings.HasPrefix(p.s[i:], "<<<"):
			p.hereString(i + len("<<<"))
			i += len("<<<")
		case c == ':' && strings.HasPrefix(p.s[i:], "://"):
			p.url(i + len("://"))
			i += len("://")
		default:
			i++
		}
	}
}

// word inspects the word text[i:j] and returns where the scan continues.
func (p *scanner) word(i, j int) int {
	if end := licenceKey(p.s, i); end > i {
		p.add(Secret, i, end)
		return end
	}
	if c := p.s[i]; c >= '0' && c <= '9' {
		if IsShort(p.s) {
			if end := run(p.s, i, codeByte); j-i >= 3 && j-i <= 8 || j == i+1 && countDigits(p.s[i:end]) > 2 {
				p.topics = append(p.topics, topic{i, max(j, end), odd})
			}
		}
		p.passFile(i, j)
		return max(j, p.number(i, j))
	}
	if kind, end := knownToken(p.s, i); end > i {
		p.add(kind, i, end)
		p.awsPair(i, end)
		return end
	}
	if end := iban(p.s, i, j); end > i {
		p.add(BankAccount, i, end)
		return end
	}
	if c, end := p.s[i], strings.IndexByte(p.s[j:min(len(p.s), j+maxValue)], ';'); j == i+1 && c == 'P' && end > 1 && p.s[j] == ':' &&
		strings.Contains(before(p.s, i, 160), "wifi:t:") {
		p.add(Password, j+1, j+end) // the text of a QR code for a network
		return j + end
	}
	c, start, end := noClass, i, j
	if maybeNoun(p.s[i:j]) {
		if c, start, end = p.classify(i, j); c != noClass {
			p.noun(c, i, start, end)
		}
	}
	if c == noClass {
		p.drawn(i, j)
	}
	p.account(i, j)
	p.topic(c, i, j, start, end)
	return j
}

// codeByte holds the bytes of a code that is written digit by digit: 5-9-9-2.
var codeByte = setOf("0-9-")

// marker returns the length of the redaction marker at the start of s, or 0.
func marker(s string) int {
	if !strings.HasPrefix(s, markerStart) {
		return 0
	}
	for i := len(markerStart); i < min(len(s), markerMax); i++ {
		switch c := s[i]; {
		case c == ']':
			return i + 1
		case (c < 'a' || c > 'z') && c != ' ':
			return 0
		}
	}
	return 0
}
