package compact

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
)

// plainExtractor reads all sentences of all messages, one after the other.
type plainExtractor struct {
	noted, said, question []string
	request               [2]string
}

func (e *plainExtractor) user(text string) {
	e.question = nil
	first := ""
	for s := range sentences(text) {
		if first == "" {
			first = s
		}
		if strings.HasSuffix(s, "?") {
			e.question = []string{s}
		}
	}
	if first != "" {
		e.request = [2]string{first, e.request[0]}
	}
}

func (e *plainExtractor) assistant(text string) {
	e.question = nil
	var said []string
	for s := range sentences(text) {
		found := cuesOf(s)
		if found&decides != 0 {
			e.noted = plainAdd(e.noted, s)
		}
		if found&leavesOpen != 0 {
			e.question = append(e.question, s)
		}
		said = append(said, s)
	}
	if n := len(said); n > 0 {
		if strings.HasSuffix(said[n-1], "?") {
			e.question = append(e.question, said[n-1])
		}
		if n > 4 {
			said = slices.Concat(said[:2], said[n-2:])
		}
		e.said = said
	}
}

// plainAdd adds a line to a trail that has room for all: one that is among the first stays
// where it is, and of others the newest counts.
func plainAdd(list []string, s string) []string {
	at := slices.IndexFunc(list, func(o string) bool { return strings.EqualFold(o, s) })
	switch {
	case at < 0 || at >= headTailSize/2:
		return append(slices.DeleteFunc(list, func(o string) bool { return strings.EqualFold(o, s) }), s)
	default:
		return list
	}
}

// Skipping a text without reading it does not change the result.
func TestExtractReadsWhatMatters(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"we", "must", "'never", "never'", "Only", "only", "ONLY", "decided", "ſtandard", "standard", "Kelvin", "kelvin", "todo", "don’t", "dürfen", "x",
		"?", "!", ".", "e.g.", "“must", "…", "\n", "\n- ", "```\n", "\n\n# ", "1.", "'", " - ", "\u2028", strings.Repeat("long ", 60),
	})
	rapid.Check(t, func(t *rapid.T) {
		var messages []ragctx.Message
		var want plainExtractor
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			text := strings.Join(rapid.SliceOfN(words, 1, 12).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "between"))
			if rapid.Bool().Draw(t, "user") {
				messages = append(messages, ragctx.TextMessage(ragctx.RoleUser, text))
				want.user(text)
			} else {
				messages = append(messages, ragctx.TextMessage(ragctx.RoleAssistant, text))
				want.assistant(text)
			}
		}
		var e extractor
		for _, m := range messages {
			e.read(m)
		}
		var got plainExtractor
		for _, l := range slices.Concat(e.lists[noted].first, e.lists[noted].last) {
			got.noted = append(got.noted, l.text)
		}
		for i, text := range e.asked {
			if all := outline(text); len(all) > 0 {
				got.request[i] = all[0]
			}
		}
		got.said, got.question = outline(e.lastAnswer), questions(e.last)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(plainExtractor{}), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("of %q (-all that is said +what was read):\n%s", messages, d)
		}
	})
}

// Lines of one fold are those that are equal but for letter case.
func TestFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("kK\u212asSſéÉµμΜ1?�")), 0, 3, -1)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if strings.EqualFold(a, b) != (foldHash(a) == foldHash(b)) {
			t.Fatalf("%q and %q: %x and %x", a, b, foldHash(a), foldHash(b))
		}
	})
}
