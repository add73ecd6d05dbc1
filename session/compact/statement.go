package compact

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Bounds of what users say.
const (
	statementChars = 600
	mostStatements = 400 // of a conversation, of each kind
	userHead       = 48 << 10
	userTail       = 16 << 10
)

// statement is a sentence of a user.
type statement struct {
	text    string
	weight  weight
	message int  // the number of the message that it is in
	shown   bool // it is shown where it was said
}

// statementsOf returns the sentences of a user's text, without code. The items of a list
// whose title says so are rules, decisions or dates.
func statementsOf(text string, message int) (out []statement) {
	const most = 24 // of one message, as nobody rules more at a time: it is a paste
	code, under, bound := false, remark, 0
	for l := range strings.Lines(bounded(text, userHead, userTail)) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "```") {
			code = !code
			continue
		}
		if code || l == "" {
			continue
		}
		bare, item := listed(l)
		if !item {
			under = titled(bare)
		}
		whole(bare, func(s string) {
			if s = cleanStatement(s); s == "" {
				return
			}
			w := weigh(s)
			if item && w < under {
				w = under
			}
			if w > hint {
				if bound++; bound > most {
					w = hint
				}
			}
			out = append(out, statement{text: s, weight: w, message: message})
		})
	}
	return out
}

// listed returns a line without the sign of a list, and whether it has one.
func listed(l string) (string, bool) {
	bare := strings.TrimLeft(l, "> ")
	for _, sign := range [...]string{"- ", "* ", "• ", "+ "} {
		if rest, ok := strings.CutPrefix(bare, sign); ok {
			return strings.TrimSpace(rest), true
		}
	}
	rest := strings.TrimLeft(bare, "0123456789")
	if n := len(bare) - len(rest); 0 < n && n < 3 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		if word := strings.Fields(rest[2:]); len(word) > 0 && valueWords[strings.Trim(fold(word[0]), ".,:")] {
			return bare, false // a day of a month
		}
		return strings.TrimSpace(rest[2:]), true
	}
	return strings.TrimLeft(bare, "# "), false
}

// titled returns what the items of a list are that a line is the title of.
func titled(l string) weight {
	if !strings.HasSuffix(strings.TrimRight(l, "* "), ":") {
		return remark
	}
	for _, t := range tokensOf(l) {
		switch {
		case ruleTitles[t.word]:
			return ruled
		case decisionTitles[t.word]:
			return decided
		case dateTitles[t.word]:
			return dated
		}
	}
	return remark
}

// bounded returns the beginning and the end of a text that is longer than both.
func bounded(text string, head, tail int) string {
	if len(text) <= head+tail {
		return text
	}
	return strings.ToValidUTF8(text[:head], "") + "\n" + strings.ToValidUTF8(text[len(text)-tail:], "")
}

// whole yields the sentences of a line. Where a full stop is that of a day or of an
// abbreviation the sentence goes on.
func whole(line string, yield func(string)) {
	pending := ""
	sentence.Sentences(line, func(s string) bool {
		if pending != "" {
			pending += " "
		}
		if pending += s; goesOn(pending) {
			return true
		}
		yield(pending)
		pending = ""
		return true
	})
	if pending != "" {
		yield(pending)
	}
}

// goesOn reports whether the full stop at the end of a text is no end of a sentence. What
// is joined by mistake is still what was said.
func goesOn(s string) bool {
	last, ok := strings.CutSuffix(s[strings.LastIndexByte(s, ' ')+1:], ".")
	if !ok {
		return false
	}
	last = strings.ToLower(strings.TrimLeft(last, "("))
	digits := strings.Trim(last, "0123456789") == "" && 0 < len(last) && len(last) < 3
	return digits || stops[last]
}

// cleanStatement returns a sentence of a user as it is kept: in one line, without secrets and
// without context that an engine put there; "" for what says nothing.
func cleanStatement(s string) string {
	s, _ = redact.StripBlocks(s)
	s, _ = redact.Redact(s)
	s = sentence.Clip(sentence.ShortenRuns(oneLine(strings.ToValidUTF8(s, "�"))), statementChars)
	for {
		bare := strings.TrimLeft(s, "#> ")
		for _, sign := range [...]string{"- ", "* ", "• "} {
			bare = strings.TrimPrefix(bare, sign)
		}
		if bare == s {
			break
		}
		s = bare
	}
	if !sentence.HasLetter(s) || nothing(s) {
		return ""
	}
	return s
}

// subject is what a statement is about: its words that say something, and those that stand
// for one of several of their kind, such as numbers and days.
type subject struct {
	words, values map[string]bool
	mask          uint64 // of the words, so that most subjects are told apart at once
	denies        bool
	revokes       bool
}

func subjectOf(text string) subject {
	tokens := tokensOf(text)
	says := sensesOf(tokens)
	out := subject{words: make(map[string]bool), values: make(map[string]bool)}
	out.denies, out.revokes = says&denies != 0 || forbids(tokens), says&revokes != 0
	fields := strings.Fields(fold(text))
	named := false // the word before names something, of which a number is a part
	for i, field := range fields {
		bare := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if strings.ContainsFunc(bare, unicode.IsDigit) {
			first, _ := utf8.DecodeRuneInString(bare)
			dated := i+1 < len(fields) && valueWords[strings.Trim(fields[i+1], ".,;:!?")]
			if unicode.IsDigit(first) && !strings.HasSuffix(field, ":") && (!named || dated) {
				out.values[bare] = true
			} else {
				out.add(bare)
			}
			named = false
			continue
		}
		for _, t := range tokensOf(bare) {
			switch {
			case valueWords[t.word]:
				out.values[t.word] = true
				named = false
			case idleWords[t.word] || len(t.word) == 1:
				named = ruleTitles[t.word] || decisionTitles[t.word]
			default:
				out.add(stem(t.word))
				named = true
			}
		}
		named = named && !strings.ContainsAny(field[len(field)-1:], ",;:.")
	}
	return out
}

func (s *subject) add(w string) {
	s.words[w] = true
	s.mask |= 1 << (folded(w) % 64)
}

// stem returns the beginning of a word, which its forms have in common.
func stem(w string) string {
	const most = 6
	r := []rune(strings.TrimSuffix(w, "'s"))
	if len(r) > 4 && r[len(r)-1] == 's' {
		r = r[:len(r)-1]
	}
	return string(r[:min(len(r), most)])
}

// overrules reports whether what was said later takes the place of what was said before:
// both are about the same, and the later one takes it back, says the opposite, or says
// another number, day or language. Where that is in doubt both stay, and the later one holds.
func (s *subject) overrules(before *subject) bool {
	if s.mask&before.mask == 0 {
		return false
	}
	n := 0
	for w := range s.words {
		if before.words[w] {
			n++
		}
	}
	all := len(s.words) + len(before.words) - n
	other := !maps.Equal(s.values, before.values)
	switch enough := func(share, of int) bool { return n > 0 && n*10 >= of*share }; {
	case s.denies != before.denies:
		return s.revokes && enough(6, len(before.words)) || enough(7, all) && !other
	case s.revokes && enough(8, len(before.words)):
		return other || n < all
	default:
		return other && len(s.values) > 0 && len(before.values) > 0 && enough(6, all) && n == min(len(s.words), len(before.words))
	}
}

// standing returns the statements that still hold, oldest first: without those that are said
// again, or that a later one overrules. Of too many the oldest are left out, and how many of
// these are rules, decisions and dates is returned.
func standing(list []statement) (out []statement, left int) {
	last := make(map[string]int, len(list))
	for i, s := range list {
		last[strings.ToLower(s.text)] = i
	}
	number := make(map[weight]int)
	stays := make([]bool, len(list))
	about := make([]*subject, len(list))
	for i, s := range slices.Backward(list) {
		if last[strings.ToLower(s.text)] != i {
			continue
		}
		if number[s.weight]++; number[s.weight] > mostStatements {
			if s.weight > hint {
				left++
			}
			continue
		}
		if stays[i] = true; s.weight == remark {
			continue
		}
		one := subjectOf(s.text)
		for j := i + 1; j < len(list) && stays[i]; j++ {
			stays[i] = about[j] == nil || list[i].message == list[j].message || !about[j].overrules(&one)
		}
		if stays[i] {
			about[i] = &one
		}
	}
	for i, s := range list {
		if stays[i] {
			out = append(out, s)
		}
	}
	return out, left
}

// The ranks of statements in which chosen takes them, of each weight four.
const (
	brief    = 1 // of what may be no rule: a short sentence
	unique   = 2 // and not one that is said again and again
	perRank  = 4
	bestRank = perRank*int(ruled) + perRank - 1
)

// ranked returns the ranks of statements.
func ranked(list []statement) []int {
	const long, often = 160, 3
	again := make(map[string]int)
	for _, s := range list {
		again[manner(s.text)]++
	}
	out := make([]int, len(list))
	for i, s := range list {
		out[i] = perRank * int(s.weight)
		if s.weight > hint {
			continue
		}
		if len(s.text) <= long {
			out[i] += brief
		}
		if again[manner(s.text)] < often {
			out[i] += unique
		}
	}
	return out
}

// chosen returns those statements that cost at most most, in their order: rules before
// decisions before dates, and the newest first. Of what may be none of them short sentences
// come first, and what is said again and again last; remarks have half of the room at most.
// It also returns how many rules, decisions and dates have no room.
func chosen(list []statement, most int, counter ragctx.Counter) (out []statement, left int) {
	ranks := make(map[int][]int) // the places of statements, the newest first
	for i, rank := range slices.Backward(ranked(list)) {
		ranks[rank] = append(ranks[rank], i)
	}
	stays := make([]bool, len(list))
	remarks := most / 2
	for rank := bestRank; rank >= 0; rank-- {
		if rank < perRank*int(hint) {
			most = min(most, remarks)
		}
		for _, i := range ranks[rank] {
			if cost := lineCost(list[i].text, counter); cost <= most {
				most, remarks = most-cost, min(remarks, most-cost)
				stays[i] = true
			}
		}
	}
	for i, s := range list {
		if stays[i] {
			out = append(out, s)
		} else if s.weight > hint {
			left++
		}
	}
	return out, left
}

// manner returns the words that a statement begins with, but for numbers: those of what is
// said again and again.
func manner(text string) string {
	const most = 4
	fields := strings.Fields(fold(text))
	fields = slices.DeleteFunc(fields, func(w string) bool { return strings.ContainsAny(w, "0123456789") })
	return strings.Join(fields[:min(len(fields), most)], " ")
}

// statementTokens returns what statements cost that are worth room: all but remarks that are
// long, or said again and again.
func statementTokens(list []statement, counter ragctx.Counter) (n int) {
	for i, rank := range ranked(list) {
		if rank >= perRank*int(remark)+brief+unique {
			n += lineCost(list[i].text, counter)
		}
	}
	return n
}

// lineCost returns what a statement costs as a line of a list.
func lineCost(text string, counter ragctx.Counter) int { return counter.Count("- "+text) + 1 }
