package memory

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
)

// FuzzItems: whatever a model says, accepted items pass the gates, and rejections are short.
func FuzzItems(f *testing.F) {
	f.Add(`{"items":[{"memory_type":"semantic","content":"The user prefers Helix to ` +
		`Vim.","importance":0.8,"confidence":0.9,"tags":["a"],"source":"preference","scope":"user","reason":"changes commands","supersedes":["m1"]}]}`)
	f.Add("```json\n{\"items\": [{\"content\": \"a \\\" { b\"}, 7, \"x\\\\\", [1,[2]]]}\n``` and {\"items\" : [")
	f.Add(`[{"a":}{]}`)
	f.Add(`"items":["items":["items":[`)
	f.Add(`{"items":[}]{`)
	f.Add(`{"items":["\`)
	a, err := NewFactExtractor(nothing{}, func(s string) (string, bool) { return s, strings.Contains(s, "sk-") }, ExtractOptions{})
	if err != nil {
		f.Fatal(err)
	}
	turn := ragctx.Turn{UserID: "ann", Prompt: "I prefer Helix to Vim, do not ask."}
	f.Fuzz(func(t *testing.T, text string) {
		list, _ := llm.FindList(text, "items")
		j := newJudge(a, turn, a.pieces(turn), []ragctx.Memory{{ID: "m1", Content: "Vim"}})
		for i, raw := range list {
			j.judge(i, raw)
		}
		for _, it := range j.items {
			n := utf8.RuneCountInString(it.Content)
			if n < leastContent || n > mostContent || !utf8.ValidString(it.Content) ||
				!(it.Importance >= MinImportance && it.Importance <= 1) || !(it.Confidence >= MinConfidence && it.Confidence <= 1) ||
				it.From != SpeakerUser || it.Shared < fewShare || len(it.Tags) > mostTags || strings.Contains(it.Content, "sk-") {
				t.Errorf("%+v", it)
			}
		}
		for _, r := range j.rejected {
			if len(r.Reason) > 200 || r.Reason == "" {
				t.Errorf("%q", r.Reason)
			}
		}
	})
}

// TestFit: a turn of any size fits; the user's last message stays at least in part,
// the order stays, and a turn that fits is unchanged.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(leastChars, 6000).Draw(t, "limit")
		var pieces []piece
		size, last := 0, -1
		for i := range rapid.IntRange(1, 40).Draw(t, "pieces") {
			v := rapid.SampledFrom([]Speaker{SpeakerUser, SpeakerAssistant, SpeakerTool}).Draw(t, "voice")
			n := rapid.SampledFrom([]int{1, 3, 20, 200, 3000}).Draw(t, "words")
			p := piece{i, v, line{Role: string(v), Text: strings.TrimSpace(strings.Repeat(fmt.Sprint("wörd", i, " "), n))}}
			if v == SpeakerUser {
				last = i
			}
			size += p.size()
			pieces = append(pieces, p)
		}
		whole := append([]piece{}, pieces...)
		got := fit(pieces, limit)
		sum, before, user := 0, -1, false
		for _, p := range got {
			sum += p.size()
			if p.message <= before || !strings.HasPrefix(p.line.Text, fmt.Sprint("wörd", p.message)) ||
				!strings.HasSuffix(p.line.Text, fmt.Sprint("wörd", p.message)) {
				t.Errorf("piece %d after %d: %q", p.message, before, p.line.Text)
			}
			before, user = p.message, user || p.message == last
			if size <= limit && p != whole[p.message] {
				t.Errorf("piece %d is touched", p.message)
			}
		}
		if sum > limit+100 || last >= 0 && !user || size <= limit && len(got) != len(whole) || len(got) == 0 {
			t.Errorf("%d of %d pieces, %d of %d characters, limit %d, the user's last %v", len(got), len(whole), sum, size, limit, user)
		}
	})
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		s    string
		most int
		want string
	}{
		{"one two three", 13, "one two three"},
		{"one two three four five six seven", 25, "one two three" + gap + "seven"},
		{"ööööööööööööööööööööööööööööööööööööööö", 9, "öö" + gap + "öö"},
		{"abcdef", 3, gap},
	} {
		if got := shorten(tt.s, tt.most); got != tt.want {
			t.Errorf("%q to %d: %q, want %q", tt.s, tt.most, got, tt.want)
		}
	}
}

// nothing is a model that must not be called.
type nothing struct{}

func (nothing) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, nil
}
