package eval_test

import (
	"testing"

	"github.com/ragctx/ragctx"
)

// mostLost is the largest allowed loss by unrelated messages, in recall@5 and MRR; the measured loss
// is .013 and .001.
const mostLost = 0.02

// TestAfterAnotherTopic asks the questions of TestRelevance, which are all self-contained, after a
// conversation about another one of them.
func TestAfterAnotherTopic(t *testing.T) {
	const apart = 17 // far enough for another kind of question
	s := fill(t)
	all := expectations(t)
	without, with := make([]int, len(all)), make([]int, len(all))
	for i, x := range all {
		other := all[(i+len(all)-apart)%len(all)]
		without[i] = s.rank(t, x)
		with[i] = s.rankOf(t, x, []ragctx.Message{
			ragctx.TextMessage(ragctx.RoleUser, other.question), ragctx.TextMessage(ragctx.RoleAssistant, other.phrase),
		})
	}
	a1, a5, a := summary(without)
	b1, b5, b := summary(with)
	t.Logf("%d questions: recall@1 %.3f, recall@5 %.3f, MRR %.3f; after another topic %.3f, %.3f, %.3f", len(all),
		a1, a5, a, b1, b5, b)
	if b5 < a5-mostLost || b < a-mostLost {
		t.Error("messages about something else cost too much")
	}
}
