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

// Bounds on statements of users.
const (
	statementChars = 600
	mostStatements = 400 // per conversation and kind
	userHead       = 48 << 10
	userTail       = 16 << 10
)

// statement is a sentence of a user.
type statement struct {
	text    string
	weight  weight
	message int  // number of its message
	shown   bool // its message stays visible
}

// statementsOf returns the sentences of a user's text, without code. Items under a heading for
// rules, decisions or dates get that weight.
func statementsOf(text string, message int) (out []statement) {
	const most = 24 // per message; more is pasted text
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
		bare, item := cutListMarker(l)
		if !item {
			under = listWeight(bare)
		}
		wholeSentences(bare, func(s string) {
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

// cutListMarker returns a line without its list marker, and whether it has one.
func cutListMarker(l string) (string, bool) {
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

// listWeight returns the weight of the items under a heading.
func listWeight(l string) weight {
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

// bounded returns the beginning and the end of a longer text.
func bounded(text string, head, tail int) string {
	if len(text) <= head+tail {
		return text
	}
	return strings.ToValidUTF8(text[:head], "") + "\n" + strings.ToValidUTF8(text[len(text)-tail:], "")
}

// wholeSentences yields the sentences of a line. It joins sentences that were split at the full
// stop of a date or an abbreviation.
func wholeSentences(line string, yield func(string)) {
	pending := ""
	sentence.Sentences(line, func(s string) bool {
		if pending != "" {
			pending += " "
		}
		if pending += s; endsInAbbreviation(pending) {
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

// endsInAbbreviation reports whether the final full stop does not end a sentence. A wrong join does
// no harm.
func endsInAbbreviation(s string) bool {
	last, ok := strings.CutSuffix(s[strings.LastIndexByte(s, ' ')+1:], ".")
	if !ok {
		return false
	}
	last = strings.ToLower(strings.TrimLeft(last, "("))
	digits := strings.Trim(last, "0123456789") == "" && 0 < len(last) && len(last) < 3
	return digits || stops[last]
}

// cleanStatement prepares a sentence of a user: a single line without secrets and injected context,
// or "" without content.
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
	if !sentence.HasLetter(s) || isNone(s) {
		return ""
	}
	return s
}

// subject describes the topic of a statement: its content words, and its values such as numbers and
// days.
type subject struct {
	words, values map[string]bool
	mask          uint64 // bitmap of the words, to compare most subjects quickly
	denies        bool
	revokes       bool
}

func subjectOf(text string) subject {
	tokens := tokensOf(text)
	says := sensesOf(tokens)
	out := subject{words: make(map[string]bool), values: make(map[string]bool)}
	out.denies, out.revokes = says&denies != 0 || forbids(tokens), says&revokes != 0
	fields := strings.Fields(fold(text))
	named := false // the preceding word is a name, and a number belongs to it
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
	s.mask |= 1 << (foldHash(w) % 64)
}

// stem returns the prefix that the forms of a word share.
func stem(w string) string {
	const most = 6
	r := []rune(strings.TrimSuffix(w, "'s"))
	if len(r) > 4 && r[len(r)-1] == 's' {
		r = r[:len(r)-1]
	}
	return string(r[:min(len(r), most)])
}

// overrules reports whether a later statement replaces an earlier one: both have the same topic,
// and the later one withdraws it, negates it, or gives another value. In doubt both are kept, and
// the later one applies.
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

// inForce returns the statements in force, oldest first: without repeated and overruled ones. If
// there are too many, the oldest are omitted; it returns the number of omitted rules, decisions and
// dates.
func inForce(list []statement) (out []statement, left int) {
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

// Ranks by which fitStatements selects statements, four for each weight.
const (
	brief    = 1 // a short sentence, for weights that may be no rule
	unique   = 2 // and not a recurring one
	perRank  = 4
	bestRank = perRank*int(ruled) + perRank - 1
)

// ranked returns the ranks of statements.
func ranked(list []statement) []int {
	const long, often = 160, 3
	again := make(map[string]int)
	for _, s := range list {
		again[opening(s.text)]++
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
		if again[opening(s.text)] < often {
			out[i] += unique
		}
	}
	return out
}

// fitStatements returns, in order, the statements that fit most tokens: rules before decisions
// before dates, and newer before older. Among uncertain statements short ones come first and
// recurring ones last; remarks get at most half of the tokens. It also returns the number of
// omitted rules, decisions and dates.
func fitStatements(list []statement, most int, counter ragctx.Counter) (out []statement, left int) {
	ranks := make(map[int][]int) // indexes by rank, newest first
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

// opening returns the first words of a statement without numbers, which recurring statements share.
func opening(text string) string {
	const most = 4
	fields := strings.Fields(fold(text))
	fields = slices.DeleteFunc(fields, func(w string) bool { return strings.ContainsAny(w, "0123456789") })
	return strings.Join(fields[:min(len(fields), most)], " ")
}

// statementTokens returns the cost of the statements worth keeping: all except long or recurring
// remarks.
func statementTokens(list []statement, counter ragctx.Counter) (n int) {
	for i, rank := range ranked(list) {
		if rank >= perRank*int(remark)+brief+unique {
			n += lineCost(list[i].text, counter)
		}
	}
	return n
}

// lineCost returns the cost of a statement as a list item.
func lineCost(text string, counter ragctx.Counter) int { return counter.Count("- "+text) + 1 }
