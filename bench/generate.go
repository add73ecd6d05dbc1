package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The generated language. Word frequencies follow Zipf's law, so posting lists have realistic
// lengths. A third of a document's words belong to its topic, so it resembles some documents more
// than others.
const (
	commonWords   = 20_000
	topics        = 200
	topicWords    = 250
	topicShare    = 0.35
	zipfExponent  = 1.15
	zipfOffset    = 4
	leastSections = 3
	moreSections  = 8

	generatedChunks = 15 // in a document, on average
)

// Generated returns the i-th document of the corpus that a seed generates: Markdown with a title
// and some sections. Equal arguments give equal text.
func Generated(seed uint64, i int) string {
	r := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // i is not negative
	p := textGenerator{rand: r, common: rand.NewZipf(r, zipfExponent, zipfOffset, commonWords-1), topic: r.IntN(topics)}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", p.phrase(3), p.paragraph())
	for range leastSections + r.IntN(moreSections) {
		fmt.Fprintf(&b, "\n## %s\n\n", p.phrase(2+r.IntN(3)))
		for range 1 + r.IntN(2) {
			fmt.Fprintf(&b, "%s\n", p.paragraph())
		}
	}
	return b.String()
}

// textGenerator generates text about a topic.
type textGenerator struct {
	rand   *rand.Rand
	common *rand.Zipf
	topic  int
}

func (p textGenerator) word() string {
	if p.rand.Float64() < topicShare {
		n := min(int(p.rand.ExpFloat64()*topicWords/5), topicWords-1)
		return Word(commonWords + p.topic*topicWords + n)
	}
	return Word(int(p.common.Uint64())) //nolint:gosec // below commonWords
}

// phrase returns n words, the first with a capital letter.
func (p textGenerator) phrase(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = p.word()
	}
	first, size := utf8.DecodeRuneInString(words[0])
	words[0] = string(unicode.ToUpper(first)) + words[0][size:]
	return strings.Join(words, " ")
}

func (p textGenerator) paragraph() string {
	sentences := make([]string, 2+p.rand.IntN(4))
	for i := range sentences {
		sentences[i] = p.phrase(6+p.rand.IntN(10)) + "."
	}
	return strings.Join(sentences, " ") + "\n"
}

// Word returns the n-th word of the generated vocabulary.
func Word(n int) string {
	var b strings.Builder
	for {
		b.WriteString([...]string{"ra", "te", "lon", "mi", "ster", "qua", "ving", "po", "des", "ner"}[n%10])
		if n /= 10; n == 0 {
			return b.String()
		}
	}
}
