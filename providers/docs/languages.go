package docs

import (
	"slices"
	"strings"
)

// language describes a programming language to the parser of source code. Lines are classified by
// their first words only. That is fast and usually finds the beginnings of declarations.
type language struct {
	// keywords begin a declaration, after modifiers. A bracket may follow.
	keywords []string
	// modifiers may come before a keyword.
	modifiers []string
	// prefixes begin a declaration, with nothing before them.
	prefixes []string
	// infixes mark a line that declares the name at its beginning.
	infixes []string
	// comments begin a comment line, or an attribute of the next declaration.
	comments []string
	// blocks are the beginnings and ends of multi-line comments or documentation. They begin a
	// line.
	blocks [][2]string
	// calls says that "name(...) {" is a declaration, as in C.
	calls bool
	// opens says that a line that ends with "{" is a declaration, such as a CSS rule.
	opens bool
	// labels says that "name:" is a declaration, such as a make target.
	labels bool
	// markup says that a tag without a closing tag on its line is a declaration.
	markup bool
	// docstring is the quote of a file's description if it is not a comment.
	docstring string
}

// values are the keywords that declare something of interest only at the top level.
var values = []string{"var", "const", "let", "val"}

// declares reports whether a line without indentation begins a declaration. nested says that the
// line is inside another declaration.
func (l *language) declares(line string, nested bool) bool {
	rest := line
	for range 6 {
		word, tail, _ := strings.Cut(rest, " ")
		if !slices.Contains(l.modifiers, word) || tail == "" {
			break
		}
		if slices.Contains(l.keywords, word) && !l.leads(tail) {
			break
		}
		rest = strings.TrimLeft(tail, " ")
	}
	if word := firstWord(rest); slices.Contains(l.keywords, word) {
		return !nested || !slices.Contains(values, word)
	}
	for _, p := range l.prefixes {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	for _, in := range l.infixes {
		if i := strings.Index(line, in); i > 0 && !strings.ContainsAny(line[:1], "({[\"'") {
			return !nested
		}
	}
	switch {
	case l.calls && declaresCall(rest), l.markup && opensTag(line):
		return true
	case l.opens:
		return strings.HasSuffix(line, "{")
	case l.labels:
		return !nested && declaresLabel(line)
	}
	return false
}

// leads reports whether s begins with a keyword or a modifier, as after "case" in "case class".
func (l *language) leads(s string) bool {
	word := firstWord(strings.TrimLeft(s, " "))
	return slices.Contains(l.keywords, word) || slices.Contains(l.modifiers, word)
}

// firstWord returns the text before the first space or bracket of a line.
func firstWord(line string) string {
	word, _, _ := strings.Cut(line, " ")
	if i := strings.IndexAny(word, "({:<[\t"); i > 0 {
		return word[:i]
	}
	return word
}

// controls are words before brackets that do not declare anything.
var controls = []string{
	"if", "for", "while", "switch", "catch", "else", "return", "do", "try", "using", "lock", "foreach", "new", "when",
	"synchronized", "with", "elseif", "until", "unless", "match",
}

// declaresCall reports whether a line looks like "int name(args) {".
func declaresCall(line string) bool {
	open := strings.IndexByte(line, '(')
	if open <= 0 || !strings.HasSuffix(strings.TrimSpace(line), "{") || strings.ContainsAny(line[:open], "=.;\"'") {
		return false
	}
	word := strings.FieldsFunc(line[:open], func(r rune) bool { return r == ' ' || r == '}' })
	return len(word) > 0 && !slices.Contains(controls, word[0])
}

// declaresLabel reports whether a line looks like "name: prerequisites".
func declaresLabel(line string) bool {
	i := strings.IndexByte(line, ':')
	return i > 0 && !strings.ContainsAny(line[:i], "=\t") && !strings.HasPrefix(line[i:], ":=") && !strings.HasPrefix(line[i:], "::=")
}

// opensTag reports whether a line begins with a tag that it does not close.
func opensTag(line string) bool {
	if len(line) < 3 || line[0] != '<' || line[1]|0x20 < 'a' || line[1]|0x20 > 'z' {
		return false
	}
	return !strings.Contains(line, "</") && !strings.HasSuffix(line, "/>")
}

// comment reports whether a line without indentation is a comment, or an attribute of the next
// line.
func (l *language) comment(line string) bool {
	for _, c := range l.comments {
		if strings.HasPrefix(line, c) {
			return true
		}
	}
	return false
}

// opensBlock returns the end mark of the multi-line comment that a line opens. It returns "" if the
// line opens no comment or also closes it.
func (l *language) opensBlock(line string) string {
	for _, b := range l.blocks {
		if rest, ok := strings.CutPrefix(line, b[0]); ok && !strings.Contains(rest, b[1]) {
			return b[1]
		}
	}
	return ""
}
