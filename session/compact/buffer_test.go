package compact_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/compact"
)

func buffering(t testing.TB, o compact.BufferOptions) *compact.Buffering {
	t.Helper()
	o.Options = options(o.Options)
	b, err := compact.NewBuffering(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mostlyUserWords(messages []ragctx.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Content.String())
	}
	return strings.Join(out, "\n")
}

func user(s string) ragctx.Message      { return ragctx.TextMessage(ragctx.RoleUser, s) }
func assistant(s string) ragctx.Message { return ragctx.TextMessage(ragctx.RoleAssistant, s) }

// Overflow goes to the buffer in order, the final "ok" stays.
func TestOverflowGoesToTheBuffer(t *testing.T) {
	b := buffering(t, compact.BufferOptions{MessageTokens: 5})
	before := compact.Sections{Messages: []ragctx.Message{user("one"), user("two"), assistant("ok")}}
	after, moved := b.Move(before)
	if mostlyUserWords(after.Buffer) != "one\ntwo" || mostlyUserWords(after.Messages) != "ok" || moved == nil || mostlyUserWords(moved.Overflow) != "one\ntwo" || mostlyUserWords(moved.Keep) != "ok" {
		t.Errorf("%+v, %+v", after, moved)
	}
	if len(before.Messages) != 3 || len(before.Buffer) != 0 {
		t.Error("the input was changed")
	}
}

// Limits may be reached but not exceeded.
func TestBufferLimitsAreStrict(t *testing.T) {
	b := buffering(t, compact.BufferOptions{MessageTokens: 10, BufferTokens: 10})
	s := compact.Sections{Messages: []ragctx.Message{user("one"), assistant("two")}, Buffer: []ragctx.Message{user("a"), assistant("b")}}
	out, err := b.After(context.Background(), s)
	if err != nil || out.Moved != nil || out.Summarized != nil {
		t.Errorf("%+v, %v", out, err)
	}
}

// A tokenizer that costs nothing moves nothing.
func TestFreeMessagesStay(t *testing.T) {
	b := buffering(t, compact.BufferOptions{MessageTokens: 1, BufferTokens: 1, Cost: func(ragctx.Message) int { return 0 }})
	out, err := b.After(context.Background(), compact.Sections{Messages: talk(100)})
	if err != nil || out.Moved != nil || out.Summarized != nil || len(out.Sections.Messages) != 100 {
		t.Errorf("%+v, %v", out, err)
	}
}

// With a costly tokenizer both happen: the summary is set, the buffer empty.
func TestBufferBecomesASummary(t *testing.T) {
	m := always("## Goal\nx\n## Current state\n- all is well")
	b := buffering(t, compact.BufferOptions{MessageTokens: 100, BufferTokens: 100, Cost: func(ragctx.Message) int { return 90 }, Options: compact.Options{Generator: m}})
	messages := []ragctx.Message{user("We decided to paint it blue."), assistant("done"), user("and now the door"), assistant("ok")}
	out, err := b.After(context.Background(), compact.Sections{Messages: messages})
	if err != nil || out.Moved == nil || out.Summarized == nil || len(out.Sections.Summary) != 1 || len(out.Sections.Buffer) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if s := out.Sections.Summary[0]; s.Role != ragctx.RoleUser || !strings.Contains(s.Content.String(), "all is well") || out.Summarized.Summary == "" {
		t.Errorf("the summary is %+v", s)
	}
	if mostlyUserWords(out.Sections.Messages) != "and now the door\nok" {
		t.Errorf("what the user said last is summarised: %q", mostlyUserWords(out.Sections.Messages))
	}
	if mostlyUserWords(out.Summarized.Buffer) != "We decided to paint it blue.\ndone" {
		t.Errorf("the event tells of %q", mostlyUserWords(out.Summarized.Buffer))
	}
}

func TestBufferSummaryWithoutAModel(t *testing.T) {
	b := buffering(t, compact.BufferOptions{MessageTokens: 20, BufferTokens: 20, SummaryTokens: 30})
	s := compact.Sections{Messages: talk(30)}
	for range 3 {
		out, err := b.After(context.Background(), s)
		if err != nil || len(out.Warnings) != 0 {
			t.Fatal(out.Warnings, err)
		}
		s = out.Sections
		s.Messages = append(slices.Clone(s.Messages), talk(6)...)
	}
	if len(s.Summary) != 1 || strings.Count(s.Summary[0].Content.String(), compact.Marker) != 1 {
		t.Errorf("%d summaries: %s", len(s.Summary), mostlyUserWords(s.Summary))
	}
	text, _ := compact.SummaryText(s.Summary[0])
	if n := (words{}).Count(text); n > 30 {
		t.Errorf("a summary of %d words", n)
	}
}

func TestBufferLimitsAreChecked(t *testing.T) {
	for _, o := range []compact.BufferOptions{{MessageTokens: -1}, {BufferTokens: -1}, {SummaryTokens: -1}, {Options: compact.Options{Timeout: -1}}} {
		if _, err := compact.NewBuffering(o); err == nil {
			t.Errorf("%+v passes", o)
		}
	}
}

// Nothing is lost or repeated, the order stays except for the newest instruction, and the view has
// complete pairs.
func TestBufferedViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := compact.NewBuffering(compact.BufferOptions{
			MessageTokens: rapid.IntRange(1, 200).Draw(t, "messages"), BufferTokens: rapid.IntRange(1, 200).Draw(t, "buffer"), Options: options(compact.Options{}),
		})
		if err != nil {
			t.Fatal(err)
		}
		s := compact.Sections{Messages: wholeSentences(conversation(t))}
		all := asJSON(s.Messages)
		moved, event := b.Move(s)
		checkPairs(t, wholeSentences(slices.Concat(moved.Buffer, moved.Messages)))
		if n := len(moved.Buffer) + len(moved.Messages); n != len(s.Messages) || (event == nil) != (len(moved.Buffer) == 0) {
			t.Fatalf("%d of %d messages, %v", n, len(s.Messages), event)
		}
		if pairs := asJSON(wholeSentences(slices.Concat(moved.Buffer, moved.Messages))); event == nil && pairs != all {
			t.Fatal(cmp.Diff(all, pairs))
		}
		out, err := b.Summarize(context.Background(), moved)
		if err != nil {
			t.Fatal(err)
		}
		view := slices.Concat(out.Sections.Summary, out.Sections.Buffer, out.Sections.Messages)
		if err := compact.VerifyContent(slices.Concat(moved.Buffer, moved.Messages), view); err != nil {
			t.Fatal(err)
		}
		if out.Summarized != nil && len(out.Sections.Buffer) != 0 {
			t.Fatal("the buffer was summarised and is not empty")
		}
		if asJSON(s.Messages) != all {
			t.Fatal("the input was changed")
		}
	})
}

func TestEvents(t *testing.T) {
	messages := talk(60)
	o := compact.Options{}
	res, err := compactor(t, o).Compact(context.Background(), compact.Conversation{Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	u := compact.Usage{SessionID: "s", Used: 8000, Most: 10_000}
	want := ragctx.ContextWarning{SessionID: "s", UsedTokens: 8000, MaxTokens: 10_000, Percent: .8, Threshold: .8}
	if diff := cmp.Diff(ragctx.ContextCompacting{ContextWarning: want, MessageCount: 60}, o.CompactingEvent(u, 60)); diff != "" {
		t.Error(diff)
	}
	e, after, ok := res.CompactedEvent(u)
	if !ok || e.TokensSaved != res.Before.Tokens-res.After.Tokens || after.Used != 8000-e.TokensSaved || e.PercentAfter >= e.PercentBefore || e.Summary == "" || e.Strategy != "extractive" {
		t.Errorf("%+v, %+v", e, after)
	}
	// Trap 15: no event if nothing was done.
	none, err := compactor(t, o).Compact(context.Background(), compact.Conversation{Messages: messages[:2]})
	if _, after, ok := none.CompactedEvent(u); err != nil || ok || after != u {
		t.Errorf("an event of nothing: %+v, %v", none, err)
	}
	if e, _, _ := res.CompactedEvent(compact.Usage{}); e.PercentBefore != 0 {
		t.Error("a share of no window")
	}
}
