package ragctx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// maxTurns is the number of odd turns of phrase allowed per 1,000 words of comments.
const maxTurns = 2

// oddTurns are turns of phrase that make a comment a riddle: noun clauses with what and who in
// place of a name, and passives of telling. docs/style.md has the rules.
var oddTurns = regexp.MustCompile(`(?i)\bwhat (?:is|was|it|they|has|the|a|an|others|nobody|somebody)\b|\bwho\b|\bwhose\b|\bof which\b` +
	`|\b(?:told|tells?|telling)\b|\bmeanwhile\b|\b(?:nobody|somebody|whoever)\b|\b(?:is|are) none\b|\bthere (?:is|are) none\b` +
	`|\b(?:are those|is that of|those of|that of)\b|\bbeside\b|\bha(?:ve|s) it\b|\bfor good\b|\ball the same\b`)

// bannedWords are names that the glossary of docs/style.md replaced. They stand in no identifier
// and in no comment.
var bannedWords = regexp.MustCompile(`(?i)\b(?:lulls?|courtesy|apprentices?|nobodys|untold|alltold|lexicalquery|densequery|dialogueweights)\b`)

// TestPlainWords reads the comments and identifiers of all packages.
func TestPlainWords(t *testing.T) {
	words, turns := 0, 0
	var odd []string
	err := eachSource(os.DirFS("."), func(name string, src []byte) error {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				words += len(strings.Fields(c.Text))
				if n := len(oddTurns.FindAllString(c.Text, -1)); n > 0 {
					turns += n
					odd = append(odd, set.Position(c.Pos()).String()+": "+c.Text)
				}
				if w := bannedWords.FindString(c.Text); w != "" {
					t.Errorf("%s: %q; use the word of the glossary in docs/style.md", set.Position(c.Pos()), w)
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && bannedWords.MatchString(id.Name) {
				t.Errorf("%s: the name %s; use the word of the glossary in docs/style.md", set.Position(id.Pos()), id.Name)
			}
			return true
		})
		return nil
	})
	if err != nil || words < 10_000 {
		t.Fatalf("%d words, %v", words, err)
	}
	if 1000*turns > maxTurns*words {
		t.Errorf("%d odd turns of phrase in %d words of comments; at most %d per 1,000:\n%s", turns, words, maxTurns, strings.Join(odd, "\n"))
	}
}

// TestOddTurnsAreSeen: the test above finds the turns that it is there for.
func TestOddTurnsAreSeen(t *testing.T) {
	for text, odd := range map[string]bool{
		"// what is told of each turn":            true,
		"// who waits is cut off":                 true,
		"// returns the items that a query shows": false,
	} {
		if oddTurns.MatchString(text) != odd {
			t.Errorf("%s: %v, want %v", text, !odd, odd)
		}
	}
}
