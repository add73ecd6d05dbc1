package tokens

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var benchTexts = []struct {
	name, text string
}{
	{"prose", strings.Repeat("The context engine reads a question and decides, within a budget, what the model should see. "+
		"Most of the work is choosing: passages compete on relevance, and whatever doesn't fit is left out.\n\n", 5000)},
	{"chinese", strings.Repeat("上下文引擎读取一个问题，并在预算之内决定模型应该看到什么。大部分工作是选择。\n", 5000)},
	{"emoji", strings.Repeat("👩‍👩‍👧‍👦🇩🇪👍🏽 ok ", 5000)},
	{"one_char", strings.Repeat("a", 1<<20)},
	{"one_space", strings.Repeat(" ", 1<<20)},
	{"no_vowels", strings.Repeat("xqzjkwvb", 1<<17)},
}

func BenchmarkCount(b *testing.B) {
	for _, e := range encodings() {
		for _, bt := range benchTexts {
			b.Run(e.ours.name+"/"+bt.name, func(b *testing.B) { benchCount(b, bt.text, e.ours.Count) })
		}
		b.Run(e.ours.name+"/go", func(b *testing.B) { benchCount(b, goSource(b), e.ours.Count) })
	}
}

func BenchmarkOracle(b *testing.B) {
	for _, e := range encodings() {
		count := func(text string) int { return len(e.oracle.EncodeOrdinary(text)) }
		for _, bt := range benchTexts[:3] {
			b.Run(e.ours.name+"/"+bt.name, func(b *testing.B) { benchCount(b, bt.text, count) })
		}
		b.Run(e.ours.name+"/go", func(b *testing.B) { benchCount(b, goSource(b), count) })
		b.Run(e.ours.name+"/one_char_16k", func(b *testing.B) { benchCount(b, strings.Repeat("a", 16<<10), count) })
	}
}

func BenchmarkLoad(b *testing.B) {
	for name, file := range map[string]string{"o200k_base": o200kFile, "cl100k_base": cl100kFile} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := parseVocab(file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("classes", func(b *testing.B) {
		for b.Loop() {
			newClasses()
		}
	})
}

func benchCount(b *testing.B, text string, count func(string) int) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		count(text)
	}
}

// goSource is the source of this package, about half a megabyte of it.
func goSource(b *testing.B) string {
	names, err := filepath.Glob("*.go")
	if err != nil {
		b.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(src)
	}
	return strings.Repeat(all.String(), 1+500_000/all.Len())
}
