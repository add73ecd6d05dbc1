package facts_test

import (
	"os"
	"strings"
	"testing"
)

// TestSeen checks the facts of the development sentences. It does not measure quality, but
// shows regressions of a rule change.
func TestSeen(t *testing.T) {
	text, err := os.ReadFile("testdata/seen.txt")
	if err != nil {
		t.Fatal(err)
	}
	var says, found, silent, junk int
	for line := range strings.Lines(string(text)) {
		sign, s, _ := strings.Cut(strings.TrimSpace(line), " ")
		got := extract(user(s))
		switch {
		case sign == "+" && len(got) > 0:
			says, found = says+1, found+1
		case sign == "+":
			says++
			t.Logf("nothing in %q", s)
		case sign == "-" && len(got) > 0:
			silent, junk = silent+1, junk+1
			t.Logf("%q: %s", s, got[0].Content)
		case sign == "-":
			silent++
		}
	}
	t.Logf("something in %d of %d, and in %d of %d that say nothing", found, says, junk, silent)
	if found*100 < says*88 || junk*100 > silent*3 {
		t.Error("less is found, or more junk, than when the rules were made")
	}
}
