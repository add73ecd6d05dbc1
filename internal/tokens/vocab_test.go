package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

var update = flag.Bool("update", false, "write the vocabularies")

// TestVocabularies compares the embedded vocabularies with those of tiktoken, which have a token in
// base64 and its rank on each line.
func TestVocabularies(t *testing.T) {
	for name, got := range map[string]string{"o200k_base": o200kFile, "cl100k_base": cl100kFile} {
		file, err := assets.Assets.ReadFile(name + ".tiktoken")
		if err != nil {
			t.Fatal(err)
		}
		var tokens []string
		for line := range bytes.Lines(file) {
			text, rank, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
			token, err := base64.StdEncoding.DecodeString(text)
			if err != nil || rank != strconv.Itoa(len(tokens)) {
				t.Fatalf("%s: token %q has rank %q, want %d (%v)", name, text, rank, len(tokens), err)
			}
			tokens = append(tokens, string(token))
		}
		want := vocabFile(tokens)
		if *update {
			if err := os.WriteFile(name+".vocab", []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if got != want {
			t.Errorf("%s differs from tiktoken's; use -update to write it", name)
		}
	}
}

// vocabFile returns the file of a vocabulary.
func vocabFile(tokens []string) string {
	file := binary.LittleEndian.AppendUint32(nil, uint32(len(tokens)))
	for _, token := range tokens {
		file = append(file, byte(len(token)))
	}
	return string(file) + strings.Join(tokens, "")
}

// allBytes returns a token for each byte, without the last missing ones.
func allBytes(missing int) (tokens []string) {
	for b := range 256 - missing {
		tokens = append(tokens, string([]byte{byte(b)}))
	}
	return tokens
}

func TestParseVocab(t *testing.T) {
	v, err := parseVocab(vocabFile(append(allBytes(0), "ab", "longer than eight")))
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
	whole := vocabFile(allBytes(0))
	for _, tt := range []struct{ name, file, want string }{
		{"empty", "", "number of tokens"},
		{"no tokens", "\x00\x00\x00\x00", "no token"},
		{"a byte is missing", vocabFile(allBytes(1)), "no token"},
		{"no lengths", whole[:4], "256 lengths"},
		{"cut", whole[:len(whole)-1], "has 255 bytes of tokens, want 256"},
		{"more bytes than tokens", whole + "x", "has 257 bytes of tokens, want 256"},
		{"empty token", vocabFile([]string{"a", ""}), "token 1 is empty"},
		{"too many", vocabFile(append(allBytes(0), strings.Split(strings.Repeat("x ", rankMask), " ")[:rankMask]...)), "fewer than"},
	} {
		if _, err := parseVocab(tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

// TestEveryToken looks up each token of the vocabularies.
func TestEveryToken(t *testing.T) {
	for _, e := range encodings() {
		v := e.ours.vocab
		for r := range uint32(len(v.starts) - 1) {
			if got := v.rank(v.token(r)); got != r {
				t.Fatalf("%s: token %q has rank %d, want %d", e.ours.name, v.token(r), got, r)
			}
		}
	}
}
