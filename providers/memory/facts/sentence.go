package facts

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// sentenceSpan is a part of the text between sentence-ending marks.
type sentenceSpan struct {
	from, to int
	question bool // ends with a question mark
	clauses  []clause
	pieces   []piece
	// askedToRemember is the start of a question or request; joke, story, secret and task mark the content.
	asked                     int
	joke, story, secret, task bool
}

// clause is the start of a part of a sentence with its own subject. It ends at the next clause.
type clause struct {
	from int
	// supposed is set if the clause or an earlier one begins with "if".
	supposed bool
}

// abbreviations end with a full stop that does not end a sentence.
var abbreviations = wordSet("e.g i.e cf vs etc mr mrs ms dr prof st no fig approx inc ltd co jr sr bzw z.b ca usw " +
	"sra dra mme nr tel u.s p.m a.m")

// sentences returns the sentences of the unmasked text.
func (t *text) sentences() []sentenceSpan {
	var out []sentenceSpan
	from := 0
	flush := func(to int, question bool) {
		f := from
		from = to
		for f < to && (t.fold[f] == ' ' || t.fold[f] == '\t' || t.fold[f] == '\r' || t.fold[f] == '\n') {
			f++
		}
		f += bullet(t.fold[f:to])
		for f < to && bytes.IndexByte([]byte(" \t\r\n.!?"), t.fold[to-1]) >= 0 {
			to--
		}
		to -= len(faceAtEnd().Find(t.fold[f:to]))
		if f < to {
			out = append(out, sentenceSpan{from: f, to: to, question: question})
		}
	}
	for i := 0; i < len(t.fold); i++ {
		switch c := t.fold[i]; c {
		case '\n', ';':
			flush(i+1, false)
		case ':': // ":)" ends a sentence
			if n := len(smile().Find(t.fold[i:min(len(t.fold), i+4)])); n > 0 {
				flush(i+n, false)
				i += n - 1
			}
		case '.', '!', '?':
			question := c == '?'
			j := i + 1
			for j < len(t.fold) && (t.fold[j] == '.' || t.fold[j] == '!' || t.fold[j] == '?' || t.fold[j] == '"' || t.fold[j] == ')') {
				question = question || t.fold[j] == '?'
				j++
			}
			if c == '.' && j < len(t.fold) && !t.stops(from, i, j) {
				continue
			}
			flush(j, question)
			i = j - 1
		case someSign: // an emoji between spaces separates like a full stop
			if i+1 < len(t.fold) && i > 0 && t.fold[i-1] == ' ' && t.fold[i+1] == ' ' {
				flush(i+1, false)
			}
		}
	}
	flush(len(t.fold), false)
	return out
}

var bulletMark = pattern(`^(?:[-*+•]|\d{1,2}[.)]|\(\d\))\s+`)

// smile matches a face of signs, faceAtEnd one behind a sentence.
var (
	smile     = pattern(`^:-?[)(/](?: |$)`)
	faceAtEnd = pattern(` *:-?[)(/]$`)
)

// bullet returns the length of a list marker.
func bullet(b []byte) int { return len(bulletMark().Find(b[:min(len(b), 12)])) }

// stops reports whether the full stop at i ends a sentence; the text continues at j.
func (t *text) stops(from, i, j int) bool {
	if t.fold[j] != ' ' && t.fold[j] != '\n' && t.fold[j] != '\t' && t.fold[j] != '\r' {
		return false
	}
	k := i
	for k > from && t.fold[k-1] != ' ' && t.fold[k-1] != '(' && t.fold[k-1] != '\n' && i-k < 8 {
		k--
	}
	w := string(t.fold[k:i])
	switch {
	case abbreviations[w], len(w) == 1 && t.capital(k):
		return false
	case len(w) > 0 && len(w) <= 2 && w[0] >= '0' && w[0] <= '9': // am 5. Mai, auf den 19. verschoben
		for j < len(t.fold) && t.fold[j] == ' ' {
			j++
		}
		return !dayFollows().Match(t.fold[j:]) && (t.capital(j) || !t.ordinalAt(from, k))
	}
	return true
}

// ordinalAt reports whether a German word before a number shows that the number is an ordinal: "auf den 19. verschoben".
func (t *text) ordinalAt(from, at int) bool {
	before := bytes.Fields(t.fold[from:at])
	n := len(before)
	return n > 0 && beforeOrdinal[string(before[n-1])] && !(n > 1 && string(before[n-2]) == "i") // "I am 12. we live"
}

var beforeOrdinal = wordSet("am den dem der vom zum im bis ab seit beim")

var dayFollows = pattern(`^(?:jan|feb|mar|apr|mai|jun|jul|aug|sep|okt|nov|dez|klasse|stock|geburtstag)`)

// Words at which clauses begin.
var (
	// subjects begin a clause after a comma or a connector.
	subjects = wordSet(`i im i'm ive i've ill i'll id i'd my we we're we've we'll our he she they it it's he's she's they're you your
		the this that there there's please always never from remember let's lets don't dont do call use keep stop note avoid
		who what where when why how which can could would will should is are was were does did am may shall if unless whether
		because cause cuz although though while whenever since before after until just thanks thank sorry hope
		ich mein meine meiner meinen meinem wir unser unsere unserer er sie es der die das bitte immer nie niemals ab kannst konntest
		wenn falls weil obwohl ob dass wie warum wann wo wer welche welcher du ihr habe bin war nenn merk denk
		yo mi mis me soy estoy tengo vivo trabajo prefiero odio nosotros nuestro nuestra el ella ellos siempre nunca recuerda puedes podrias
		si porque aunque cuando que cual quien donde tu usted no por
		je j'ai j'aime j'habite j'adore j'utilise j'etais mon ma mes nous notre nos il elle on c'est toujours jamais retiens peux pourrais
		quand parce car comment pourquoi quel quelle vous ne n'oublie`)
	// connectors join clauses.
	connectors = wordSet(`and but so because cause cuz plus also then or & und aber weil denn sondern oder also
		dann pero y porque o mais et car ou
		donc puis though although yet`)
	// cutters begin a clause anywhere.
	cutters = wordSet("if unless because cuz although whenever falls weil obwohl porque aunque")
	// speakers begin a clause in the middle of an unpunctuated sentence, unless a word that holds
	// them precedes.
	speakers = wordSet("i i'm im i've ive i'll ich je j'ai j'habite j'aime yo")
	// settling holds verbs after which "I" begins a clause even in careful writing.
	settling = wordSet("live work am prefer speak study wohne arbeite heise bin habite travaille vivo trabajo")
	holding  = wordSet(`sure ensure ensuring that which what where when who whom whose if than as how why whether
		because since while until before after like
		think believe guess hope wish said say says know mean suppose feel heard told thing place one and but or so then until till
		once whenever every time day way all everything anything something city town country company place editor tool first last the
		should could would can did do does have had am was will might must may shall not cause cuz unless and though although
		dass wenn ob weil als wie wo was den die das und aber habe bin war werde kann muss mochte wurde will hatte fliege fahre ziehe
		arbeite wohne reise gehe que si quand comme et mais ou dont lorsque car y o pero cuando donde`)
	// askers begin a question or a request.
	askers = wordSet(`can could would will should what how why which who where when whose do does did is are was were am may shall have has
		any help write give show tell explain create make generate suggest recommend draft translate summarize summarise find
		compute calculate convert list compare describe
		kannst konntest koenntest konnen was wie warum wieso wann wo wer welche welcher welches welchen hast hat ist sind soll sollte
		schreib schreibe zeig zeige gib erklar erklare hilf erstelle mach
		puedes podrias que cual cuales quien donde cuando por escribe dame muestra explica ayudame crea haz hay
		peux pourrais pouvez comment pourquoi quel quelle quels quelles qui ou est-ce ecris donne montre explique aide`)
)

// parts finds the clauses of a sentence.
func (t *text) parts(s *sentenceSpan) {
	ws := t.words(s.from, s.to)
	for k, w := range ws {
		if k == 0 {
			s.begin(w)
			continue
		}
		f, prev := t.folded(w), t.folded(ws[k-1])
		gap := t.fold[ws[k-1].to:w.from]
		parted := bytes.ContainsAny(gap, ",:()") || bytes.Contains(gap, []byte(" -"))
		switch {
		case parted && (subjects[f] || connectors[f] && k+1 < len(ws) && subjects[t.folded(ws[k+1])] || fillers[f]):
			s.begin(w)
		case connectors[prev] && subjects[f] && f != "the" && f != "that" && prev != "or" && !connectors[f]:
			s.begin(w)
		case cutters[f], speakers[f] && !holding[prev] && !continuesClause(prev) &&
			(t.careless || k+1 < len(ws) && settling[t.folded(ws[k+1])]):
			s.begin(w)
		case f == "my" && !holding[prev] && t.possessed(ws[k:]):
			s.begin(w)
		case parted && k+2 < len(ws) && t.verbSoon(ws[k:]):
			s.begin(w)
		}
	}
	t.survey(s)
}

// begin starts a clause at a word.
func (s *sentenceSpan) begin(w word) { s.clauses = append(s.clauses, clause{from: w.from}) }

// continuesClause reports whether "I" after the word continues the clause.
func continuesClause(w string) bool { return strings.HasSuffix(w, "n't") || prepositions[w] }

var prepositions = wordSet("of with for to in on at from by about into over under is are was be my the a an your " +
	"his her love like hate enjoy prefer and")

// possessed reports whether "my" begins a statement: "my name is".
func (t *text) possessed(ws []word) bool {
	if len(ws) < 3 {
		return false
	}
	for _, w := range ws[2:min(len(ws), 5)] {
		switch t.folded(w) {
		case "is", "are":
			return true
		}
	}
	return false
}

// verbSoon reports whether a capitalized name and a verb follow: "Anna is".
func (t *text) verbSoon(ws []word) bool {
	switch t.folded(ws[1]) {
	case "is", "are", "was", "has", "works", "lives", "owns", "handles":
		return t.capital(ws[0].from)
	}
	return false
}

// next returns the start of the clause after a position, or the end of the sentence.
func (s *sentenceSpan) next(after int) int {
	i, _ := slices.BinarySearchFunc(s.clauses, after+1, func(c clause, at int) int { return cmp.Compare(c.from, at) })
	if i < len(s.clauses) {
		return s.clauses[i].from
	}
	return s.to
}

// wordSet returns the set of the words in list, which spaces separate.
func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
