package timeexpr_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

func BenchmarkRead(b *testing.B) {
	for _, bb := range []struct{ name, question string }{
		{"no_time", "How does the scheduler decide where the pods of a replica set are placed at runtime?"},
		{"no_time_but_its_words", "How many days may an access token live before the session ends on the second server?"},
		{"date", "What did Caroline and Melanie discuss on July 3rd, 2023 that Melanie had recently taken up?"},
		{"sessions", "What did we discuss over sessions 19 through 21?"},
		{"relative", "Worüber haben wir vor drei Wochen im letzten Gespräch gesprochen?"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				timeexpr.Read(bb.question, now)
			}
		})
	}
}

// BenchmarkLong reads long texts that start a futile match at every word: the time per
// byte must not grow with their length.
func BenchmarkLong(b *testing.B) {
	for _, unit := range astray {
		for _, size := range []int{10_000, 100_000} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(strings.ReplaceAll(unit, " ", "_")+"/"+map[bool]string{false: "10k", true: "100k"}[size == 100_000], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					timeexpr.Read(text, now)
				}
			})
		}
	}
}

// astray holds phrases that, repeated, start a match at every word.
var astray = []string{
	"between the 3rd and session in 2023 of last May-5 ", "end of early ", "2 days before May 3, ", "quatre vingt ", "dix ",
	"soixante ", "3/7/2023 ", "hier ", "3.", "in the last ", "first to last ", "Monday of last week on ", "the 3rd of this ",
	"session 3 to ", "morning of ", "since from between ", "twenty-", "x", "1", "é", "in May of last year of ", "a ",
}
