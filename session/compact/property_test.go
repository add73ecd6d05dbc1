package compact_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// wholeSentences is the view of a conversation that is not compacted.
func wholeSentences(messages []ragctx.Message) []ragctx.Message { return compact.Apply(messages, nil) }

// newestInstruction returns the newest user text that is not a summary.
func newestInstruction(messages []ragctx.Message) *ragctx.Message {
	for _, m := range slices.Backward(messages) {
		if m.Role == ragctx.RoleUser && strings.TrimSpace(m.Content.String()) != "" && !strings.HasPrefix(m.Content.String(), compact.Marker) {
			return &m
		}
	}
	return nil
}

// unanswered returns the ids of the unanswered calls in a view.
func unanswered(view []ragctx.Message) map[string]bool {
	open := make(map[string]bool)
	for _, m := range view {
		for _, b := range m.Content {
			switch b.Type {
			case ragctx.BlockToolUse:
				open[b.ID] = true
			case ragctx.BlockToolResult:
				delete(open, b.ToolUseID)
			default:
			}
		}
	}
	return open
}

func drawOptions(t *rapid.T) compact.Options {
	o := options(compact.Options{
		Policy:    compact.Policy(rapid.SampledFrom(compact.PolicyNames()).Draw(t, "policy")),
		Strategy:  compact.Strategy(rapid.SampledFrom(compact.StrategyNames()).Draw(t, "strategy")),
		KeepFirst: rapid.IntRange(-1, 4).Draw(t, "first"), KeepLast: rapid.IntRange(-1, 8).Draw(t, "last"),
		Window: rapid.IntRange(1, 4000).Draw(t, "window"), MinMessages: rapid.IntRange(0, 10).Draw(t, "min"),
	})
	switch rapid.IntRange(0, 3).Draw(t, "model") {
	case 0:
		o.Generator = always("## Goal\nto be done\n## Current state\n- well on the way")
	case 1:
		o.Generator = always("I cannot help with that.")
	case 2:
		o.Generator = &model{says: func(context.Context) (string, error) { return "", ragctx.ErrUnavailable }}
	default:
		if o.Strategy == compact.LLM { // which needs one
			o.Strategy = compact.Extractive
		}
	}
	return o
}

func TestCompactedViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages, o := conversation(t), drawOptions(t)
		before := asJSON(messages)
		c, err := compact.New(o)
		if err != nil {
			t.Fatal(err)
		}
		var records []compact.Record
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			view := compact.Apply(messages, records)
			res, err := c.Compact(context.Background(), compact.Conversation{Messages: messages, Records: records})
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, messages, view, records, res)
			checkFromView(t, c, view, records, res)
			if res.Record != nil {
				records = append(records, *res.Record)
			}
			if undone := compact.Undo(records); res.Record != nil && asJSON(compact.Apply(messages, undone)) != asJSON(view) {
				t.Fatal("an undone compaction leaves something behind")
			}
			more := conversation(t)
			for i := range more {
				more[i].ID = "later" + asJSON(len(messages)+i)
			}
			messages = append(messages, more...)
			before = asJSON(messages)
			checkPairs(t, compact.Apply(messages, records))
			branch := messages[:rapid.IntRange(0, len(messages)).Draw(t, "branch")]
			checkPairs(t, compact.Apply(branch, records))
			checkInUse(t, branch, compact.Apply(branch, records))
			again, err := c.Compact(context.Background(), compact.Conversation{Messages: branch, Records: records})
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, branch, compact.Apply(branch, records), records, again)
		}
		if asJSON(messages) != before {
			t.Fatal("the conversation was changed")
		}
	})
}

// checkResult fails if a compacted view violates the contract.
func checkResult(t *rapid.T, messages, view []ragctx.Message, records []compact.Record, res compact.Result) {
	checkPairs(t, res.Messages)
	if (res.Record == nil) != (res.Reason != "") {
		t.Fatalf("record %v, reason %q", res.Record, res.Reason)
	}
	if res.Record == nil {
		if asJSON(res.Messages) != asJSON(view) {
			t.Fatal("nothing was done, and the view is another one")
		}
		return
	}
	if err := compact.Verify(view, res.Messages, scale); err != nil {
		t.Fatal(err)
	}
	tokens := 0
	for _, m := range res.Messages {
		tokens += scale.Message(m)
	}
	if res.After.Tokens != tokens || res.After.Messages != len(res.Messages) || res.Record.After != res.After {
		t.Fatalf("%d tokens in %d messages; the result says %+v", tokens, len(res.Messages), res.After)
	}
	if diff := cmp.Diff(asJSON(res.Messages), asJSON(compact.Apply(messages, append(slices.Clone(records), *res.Record)))); diff != "" {
		t.Fatalf("the record describes another view (result, record):\n%s", diff)
	}
	checkInUse(t, view, res.Messages)
	if res.Record.From == "" {
		return
	}
	if newestInstruction(view) != nil {
		if i := session.LastInstruction(res.Messages); strings.HasPrefix(res.Messages[i].Content.String(), compact.Marker) {
			t.Fatal("a summary passes for the newest instruction")
		}
	}
	summaries := 0
	for _, m := range res.Messages {
		if _, ok := compact.SummaryText(m); ok {
			summaries++
		}
	}
	if summaries != 1 {
		t.Fatalf("%d summaries in one view", summaries)
	}
}

// checkInUse fails if a view lacks messages in use.
func checkInUse(t *rapid.T, of, view []ragctx.Message) {
	if want := newestInstruction(of); want != nil && !slices.ContainsFunc(view, func(m ragctx.Message) bool { return m.ID == want.ID }) {
		t.Fatalf("the newest instruction %s is gone", want.ID)
	}
	for id := range unanswered(wholeSentences(of)) {
		if !unanswered(view)[id] {
			t.Fatalf("the call %s is gone", id)
		}
	}
	for _, i := range session.NewestExchange(of) {
		if !slices.ContainsFunc(view, func(m ragctx.Message) bool { return m.ID == of[i].ID }) {
			t.Fatalf("the message %s of the newest exchange is gone", of[i].ID)
		}
	}
}

// checkFromView fails if compacting the view covers another range than compacting the conversation.
// Only texts of orphans may make a difference.
func checkFromView(t *rapid.T, c *compact.Compactor, view []ragctx.Message, records []compact.Record, res compact.Result) {
	again, err := c.Compact(context.Background(), compact.Conversation{Messages: view, Records: records})
	if err != nil || again.Before != res.Before {
		t.Fatalf("of the view: %+v, of the conversation: %+v, %v", again, res, err)
	}
	if res.Record == nil || again.Record == nil {
		return
	}
	if a, b := again.Record, res.Record; a.From != b.From || a.To != b.To || !slices.Equal(a.Keep, b.Keep) || !slices.Equal(a.Supersedes, b.Supersedes) {
		t.Fatalf("of the view: %+v, of the conversation: %+v", *a, *b)
	}
}

func TestPruningTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := conversation(t)
		o := options(compact.Options{Strategy: compact.Prune, Window: rapid.IntRange(1, 1000).Draw(t, "window")})
		c, err := compact.New(o)
		if err != nil {
			t.Fatal(err)
		}
		once, err := c.Compact(context.Background(), compact.Conversation{Messages: messages})
		if err != nil {
			t.Fatal(err)
		}
		twice, err := c.Compact(context.Background(), compact.Conversation{Messages: once.Messages})
		if err != nil || twice.Record != nil || asJSON(twice.Messages) != asJSON(once.Messages) {
			t.Fatalf("pruned again: %+v, %v", twice.Record, err)
		}
	})
}

func TestCompactEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &model{says: func(ctx context.Context) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}}
	messages := talk(60)
	res, err := compactor(t, compact.Options{Generator: m}).Compact(ctx, compact.Conversation{Messages: messages})
	if !errors.Is(err, context.Canceled) || res.Record != nil || asJSON(res.Messages) != asJSON(messages) {
		t.Errorf("%v, %d messages", err, len(res.Messages))
	}
}
