package facts

import (
	"bytes"
	"slices"
)

// Patterns of text that is quoted, pasted or not meant literally.
var (
	logLine = pattern(`^\s*(?:\[?\d{4}-\d\d-\d\d[t ]\d\d:|\[?\d\d:\d\d:\d\d|(?:\[)?(?:info|warn|warning|` +
		`error|debug|fatal|trace)(?:\]|:|\s+\[)|` +
		`[a-z]{3} [ \d]\d \d\d:\d\d:\d\d |(?:error|fehler|info|warn\w*) \d{4}-|\[?\{"|//|/\*|at [\w.$]+\(|` +
		`traceback |file "|\$ |>>> |\+\+\+ |--- a/|@@ |panic: |goroutine \d|exit status|npm err|caused by: )`)
	mailHead = pattern(`^\s*\**(?:from|von|de|to|an|para|a|subject|betreff|asunto|objet|sent|gesendet|` +
		`enviado|envoye|date|datum|fecha|cc|reply-to)\**\s?:`)
	mailStart = pattern(`^\s*(?:-{3,}\s*(?:original|forwarded|urspr|weitergeleitet|mensaje|message)|` +
		`(?:on|am|el|le) .{5,80} (?:wrote|schrieb.{0,40}|escribio|a ecrit)\s*:)`)
	pasted = pattern(`\b(?:translate|summari[sz]e|proofread|rewrite|rephrase|reword|paraphrase|correct|improve|polish|edit|` +
		`analy[sz]e|classify|fix the grammar|article|e-?mail|text|paragraph|letter|post|transcript|passage|review|story|excerpt|abstract|` +
		`sentences?|quote|tweet|message|blog|chapter|lyrics|poem|log|logs|output|draft|essay|bio|dialogue|document|snippet|` +
		`ubersetz\w*|korrigier\w*|fass\w*|zusammenfass\w*|artikel|absatz|brief|nachricht|satz|auszug|entwurf|` +
		`traduce|traduzca|resume|corrige|reescribe|articulo|correo|texto|parrafo|carta|mensaje|frase|` +
		`traduis|traduisez|resumez|corriger|reformule|texte|paragraphe|lettre|courriel|phrase|extrait|` +
		`brouillon)\b[^.!?\n]{0,80}:\s*(?:["\n]|$)|` +
		`^\s*(?:please |can you |could you |bitte |por favor |peux-tu |pourrais-tu |kannst du )?(?:translate|` +
		`summari[sz]e|proofread|rewrite|rephrase|paraphrase|` +
		`ubersetze?|korrigiere?|traduce|corrige|traduis|reformule|resume)\b[^.!?\n]{0,60}:`)
	// document begins an attachment, end closes it.
	ticketHead = pattern(`^\s*(?:(?:ticket|issue|case|incident|vorgang|anfrage|demande|incidencia|caso)` +
		`\s*(?:#|no\.?|nr\.?|n°)?\s*` +
		`[a-z]{0,6}-?\d+\s*$|(?:reporter|reported by|assignee|assigned to|requester|customer|status|priority|severity|` +
		`gemeldet von|melder|kunde|prioritat|rapporteur|demandeur|priorite|solicitante|cliente|prioridad)\s?:)`)
	document = pattern(`^\s*(?:-{3,} ?[^-\n]{1,60} ?-{3,}|={3,} ?[^=\n]{1,60} ?={3,}|curriculum vitae)\s*$`)
	handle   = pattern(`^\s*(?:\[[\d:. ]{4,16}\] ?)?([a-z][\w.-]{1,24}(?: [a-z][\w.-]{0,20})?): `)
	tag      = pattern(`^\s*<([a-z][\w-]{0,40})(?:\s[^<>\n]{0,300})?>`)
	pretence = pattern(`(?:^|[.!?\n]\s*)(?:(?:ok|okay|hi|hey|so|now|please|bitte|por favor|let's|` +
		`lets)[, ]+)*(?:pretend|imagine\b|imagina\b|act as|act like|` +
		`role-? ?play|play a game|you are now|you're now|you will play|let us play|stell dir vor|stellen wir uns|` +
		`tu so|tun wir so|rollenspiel|` +
		`i want you to act as|i'd like you to act as|let's play\b|lets play\b|let's practi[sc]e|once upon a time|` +
		`lore check|for the sake of argument|exercise \d+\s?:|test data\b|you're the .{3,40} and i'm|you are the .{3,40} and i am|` +
		`spiel\w* (?:eine?n? )?rolle|du bist jetzt|wir (?:uben|spielen)|gesetzt den fall|es war einmal|testdaten|` +
		`finge|hagamos|supongamos|actua como|juego de rol|erase una vez|habia una vez|datos de prueba|eres ahora|` +
		`fais comme|faisons comme|joue le role|jeu de role|imaginons|supposons|il etait une fois|tu es maintenant|donnees de test)`)
	over = pattern(`\b(?:summari[sz]e|translate|proofread|rewrite|rephrase|tl;?dr|what does (?:this|it) ` +
		`(?:mean|say)|fasse? .{0,20}zusammen|` +
		`ubersetze?|traduce|traduis|resume)\b.{0,30}\b(?:this|that|it|above|the (?:text|article|e-?mail)|das|` +
		`dies\w*|den text|esto|este texto|ca|ceci|ce texte)\b`)
	inQuotes = pattern(`"[^"\n]{12,600}"`)
	fromThis = pattern(`\b(?:from|of|for|in|about|on|with) (?:this|these|the following)(?: [a-z]+)?\s?:\s*$`)
	inMarks  = pattern(`(?:^|[\s(])'[^'\n]{12,400}'(?:[\s.,!?)]|$)`)
)

// longPaste is the length in code points from which a paragraph to be summarized or translated
// counts as pasted.
const longPaste = 200

// maskForeign masks text of other origin than the speaker: code, quotes, logs, pasted letters and articles,
// context blocks, role play.
func (t *text) maskForeign() {
	t.maskAbove()
	t.maskTalk()
	t.maskLines()
	for _, m := range inQuotes().FindAllIndex(t.fold, -1) {
		if bytes.Count(t.fold[m[0]:m[1]], []byte{' '}) >= 4 {
			for i := m[0] + 1; i < m[1]-1; i++ {
				t.fold[i] = someSign
			}
		}
	}
	for _, m := range inMarks().FindAllIndex(t.fold, -1) {
		if bytes.Count(t.fold[m[0]+1:m[1]-1], []byte{' '}) >= 4 {
			for i := m[0] + 1; i < m[1]-1; i++ {
				if t.fold[i] != '\n' {
					t.fold[i] = someSign
				}
			}
		}
	}
	t.maskArticle()
	if m := pretence().FindIndex(t.fold); m != nil {
		t.mask(m[0], len(t.fold))
	}
}

// maskArticle masks long paragraphs without first-person words.
func (t *text) maskArticle() {
	from := 0
	for line := range bytes.Lines(t.fold) {
		to := from + len(line)
		if len(line) >= longArticle && bytes.Count(line, []byte(". ")) >= 2 &&
			!slices.ContainsFunc(t.words(from, to), func(w word) bool { return selves[t.folded(w)] }) {
			t.mask(from, to)
		}
		from = to
	}
}

// longArticle is the length in code points from which a paragraph reads like an article.
const longArticle = 350

// maskAbove masks the long text that the last paragraph asks to process.
func (t *text) maskAbove() {
	body := bytes.TrimRight(t.fold, " \n\t\r")
	last := bytes.LastIndexByte(body, '\n') + 1
	if last > longPaste && over().Match(body[last:]) {
		t.mask(0, last)
	}
}

// maskTalk masks the lines of a pasted conversation, in which a speaker recurs: "ann: …", "bob:
// …", "ann: …".
func (t *text) maskTalk() {
	names := map[string]int{}
	var lines [][2]int
	from := 0
	for line := range bytes.Lines(t.fold) {
		if m := handle().FindSubmatch(line); m != nil {
			names[string(m[1])]++
			lines = append(lines, [2]int{from, from + len(line)})
		}
		from += len(line)
	}
	if len(names) > 1 && len(lines) > len(names) {
		for _, x := range lines {
			t.mask(x[0], x[1])
		}
	}
}

// maskLines masks the message line by line.
func (t *text) maskLines() {
	missing := map[string]bool{} // tags without a closing tag further down
	heads := 0                   // consecutive header lines of a mail or a ticket
	for from := 0; from < len(t.fold); {
		to := from
		if i := bytes.IndexByte(t.fold[from:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(t.fold)
		}
		line := t.fold[from:to]
		if bytes.IndexByte(line, ':') >= 0 && mailHead().Match(line) || ticketHead().Match(line) {
			heads++
		} else if len(bytes.TrimSpace(line)) > 0 {
			heads = 0
		}
		next := t.foreignLine(from, to, missing)
		switch {
		case next > from:
			t.mask(from, next)
			from = next
			continue
		case heads >= 2 || mailStart().Match(line) || document().Match(line):
			t.mask(from, len(t.fold))
			return
		}
		if bytes.IndexByte(line, ':') < 0 {
			from = to
			continue
		}
		m := pasted().FindIndex(line)
		if m == nil {
			m = fromThis().FindIndex(line)
		}
		if m != nil {
			if rest := from + m[1]; len(bytes.TrimSpace(t.fold[rest:])) > 0 {
				t.mask(rest, len(t.fold))
				return
			}
		}
		from = to
	}
}

// foreignLine returns the end of the foreign text that begins with a line, or from if the line is
// the speaker's own.
func (t *text) foreignLine(from, to int, missing map[string]bool) int {
	line := t.fold[from:to]
	body := bytes.TrimLeft(line, " \t")
	switch {
	case bytes.HasPrefix(body, []byte("```")), bytes.HasPrefix(body, []byte("~~~")):
		mark := "\n" + string(body[:3])
		if i := bytes.Index(t.fold[to-1:], []byte(mark)); i >= 0 {
			end := to - 1 + i + len(mark)
			if j := bytes.IndexByte(t.fold[end:], '\n'); j >= 0 {
				return end + j + 1
			}
		}
		return len(t.fold)
	case bytes.HasPrefix(body, []byte(">")), bytes.HasPrefix(body, []byte("|")):
		return to
	case len(body) > 0 && (bytes.HasPrefix(line, []byte("    ")) || line[0] == '\t'):
		return to
	case logLine().Match(line):
		return to
	}
	if m := tag().FindSubmatch(line); m != nil && !missing[string(m[1])] {
		closing := "</" + string(m[1]) + ">"
		if i := bytes.Index(t.fold[from:], []byte(closing)); i >= 0 {
			return from + i + len(closing)
		}
		missing[string(m[1])] = true
		if string(m[1]) == "context" {
			return len(t.fold) // cut off
		}
	}
	return from
}
