package tokens

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// vocabFile returns a file with all bytes but those missing, and extra tokens.
func vocabFile(missing int, extra ...string) string {
	var tokens []string
	for b := range 256 - missing {
		tokens = append(tokens, string([]byte{byte(b)}))
	}
	var file strings.Builder
	for rank, token := range append(tokens, extra...) {
		fmt.Fprintf(&file, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token)), rank)
	}
	return file.String()
}

func TestParseVocab(t *testing.T) {
	v, err := parseVocab([]byte(vocabFile(0, "ab", "longer than eight")))
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]uint32{
		"a": 'a', "ab": 256, "longer than eight": 257, "ba": noRank, "": noRank, "longer than nine!": noRank, "even longer than that": noRank,
	} {
		if got := v.rank(token); got != want {
			t.Errorf("rank of %q is %d, want %d", token, got, want)
		}
	}
}

func TestParseVocabErrors(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"empty", "", "no token"},
		{"a byte is missing", vocabFile(1, "ab"), "no token"},
		{"not base64", "IQ== 0\n?? 1\n", "line 2"},
		{"empty token", " 0\n", "line 1"},
		{"no rank", "IQ==\n", "line 1"},
		{"rank is text", "IQ== x\n", "line 1"},
		{"rank skipped", "IQ== 0\nIg== 2\n", "line 2"},
		{"too many", vocabFile(0, strings.Split(strings.Repeat("x ", rankMask), " ")[:rankMask]...), "fewer than"},
	} {
		if _, err := parseVocab([]byte(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

func TestLoadVocabUnknown(t *testing.T) {
	if _, err := loadVocab("none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("error %v does not name the vocabulary", err)
	}
}

// TestEveryToken looks up each token of the vocabularies.
func TestEveryToken(t *testing.T) {
	for _, e := range encodings() {
		v := e.ours.vocab
		for r := range uint32(len(v.starts) - 1) {
			if got := v.rank(string(v.token(r))); got != r {
				t.Fatalf("%s: token %q has rank %d, want %d", e.ours.name, v.token(r), got, r)
			}
		}
	}
}
