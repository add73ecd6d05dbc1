package extract

import "strings"

// shortWords lists frequent short words of languages that separate words by spaces.
const shortWords = " the of and to in is for that it on as with be by this are or at from an not can if will" +
	" has have was you" +
	" der die und das den von zu mit ist des im für auf nicht ein eine sich dem als auch" +
	" le la les des et en du une dans que est pour qui sur par au pas plus" +
	" el los las del y en que un una por con para es se lo al como" +
	" il di che e non per della sono da una con gli" +
	" het een van dat niet zijn op te aan met voor" +
	" o os da do em um uma para com não" +
	" w z na i że się do jest och att det som på av för till den "

// plausibility measures whether words are separated correctly, neither joined nor split.
type plausibility struct {
	words, known, long, single int
}

func (p *plausibility) add(line string) {
	for w := range strings.FieldsSeq(line) {
		w = strings.ToLower(strings.Trim(w, `.,;:!?()[]{}"'“”‘’«»-`))
		letters := isLetters(w)
		switch {
		case w == "" || !letters:
			continue
		case len(w) > 22 && isASCII(w):
			p.long++
		case len(w) == 1:
			p.single++
		case strings.Contains(shortWords, " "+w+" "):
			p.known++
		}
		p.words++
	}
}

// score is higher for better text. Joined words are long and hide short words; split words leave
// single letters.
func (p *plausibility) score() float64 {
	n := float64(max(p.words, 1))
	return float64(p.known)/n - 2*float64(p.long)/n - float64(p.single)/n
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isLetters reports whether s consists of letters, apostrophes and hyphens.
func isLetters(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !isLetter(r) && r != '\'' && r != '’' && r != '-' }) < 0
}
