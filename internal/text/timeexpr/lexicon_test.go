package timeexpr

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Words are looked up folded: an unfolded entry would never be found.
func TestWordsAreFolded(t *testing.T) {
	words := lexicon()
	for word := range words {
		toks, _ := tokenize(nil, word)
		if len(toks) != 1 || toks[0].entry != words[word] {
			t.Errorf("%q is not found", word)
		}
	}
}

// The lists that count must hold all their meanings, and a word one of each list.
func TestTablesAreComplete(t *testing.T) {
	for _, table := range []*table{&englishTable, &germanTable, &spanishTable, &frenchTable} {
		for name, l := range map[string]struct {
			list string
			want int
		}{
			"months": {table.months, 12}, "weekdays": {table.weekdays, 7}, "units": {table.units, int(year)},
			"parts": {table.parts, int(night)}, "seasons": {table.seasons, 4}, "cardinals": {table.cardinals, 28},
			"ordinals": {table.ordinals, 28},
		} {
			if l.list == "" {
				continue // German ordinals are made from the cardinals
			}
			if n := strings.Count(l.list, ",") + 1; n != l.want {
				t.Errorf("language %d has %d %s, want %d", table.language, n, name, l.want)
			}
			seen := make(map[string]bool)
			for word := range strings.FieldsSeq(strings.ReplaceAll(l.list, ",", " ")) {
				if seen[word] && word != "-" {
					t.Errorf("language %d has %q twice among its %s", table.language, word, name)
				}
				seen[word] = true
			}
		}
	}
}

// Languages may share a word, but not for different numbers of one kind.
func TestLanguagesAgree(t *testing.T) {
	got := make(map[string]int)
	for _, table := range []*table{&englishTable, &germanTable, &spanishTable, &frenchTable} {
		for name, list := range map[string]string{
			"month": table.months, "weekday": table.weekdays, "unit": table.units, "part": table.parts, "season": table.seasons,
			"cardinal": table.cardinals, "ordinal": table.ordinals,
		} {
			n := 0
			for meaning := range strings.SplitSeq(list, ",") {
				n++
				for word := range strings.FieldsSeq(meaning) {
					if had, ok := got[name+" "+word]; ok && had != n && word != "-" {
						t.Errorf("%s %q is %d and %d", name, word, had, n)
					}
					got[name+" "+word] = n
				}
			}
		}
	}
}

// Any sequence of words of all tables can be read.
func TestAnyWords(t *testing.T) {
	words := slices.Sorted(maps.Keys(lexicon()))
	words = append(words, "3", "31", "3rd", "2023", "1er", "Caroline", "May", "March")
	now := time.Date(2023, 11, 15, 14, 30, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 12).Draw(rt, "words") {
			b.WriteString(rapid.SampledFrom(words).Draw(rt, "word"))
			b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", " ", "-", ". ", ", ", "'", ".", "/"}).Draw(rt, "gap"))
		}
		r, ok := Read(b.String(), now)
		if ok && (r.Start >= r.End || r.End > b.Len() || !r.To.IsZero() && r.To.Before(r.From)) {
			rt.Errorf("%q: %+v", b.String(), r)
		}
	})
}
