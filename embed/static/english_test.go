package static

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of English words")

// TestEnglishWords checks that the words that spelling correction leaves alone are those of the
// table's vocabulary: tokens that begin a word, of five letters and more.
func TestEnglishWords(t *testing.T) {
	const file = "../../internal/text/analysis/english.txt"
	_, tokens, _, err := parseTable(model)
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`^[a-z]{5,}$`)
	words := slices.DeleteFunc(tokens, func(token string) bool { return !word.MatchString(token) })
	slices.Sort(words)
	want := strings.Join(words, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s has other words (%v); write it with -update", file, err)
	}
}
