package view_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// planted is a set of sentences that users plant.
type planted struct {
	name      string
	sentences []string
}

func plantedSets(t *testing.T) (out []planted) {
	t.Helper()
	f, err := os.Open("testdata/rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch l := lines.Text(); {
		case l == "" || strings.HasPrefix(l, "#"):
		case strings.HasPrefix(l, "= "):
			out = append(out, planted{name: l[2:]})
		default:
			last := &out[len(out)-1]
			last.sentences = append(last.sentences, l)
		}
	}
	return out
}

// lines returns words that say nothing of a rule, other ones for each number.
func lines(n, words int) string {
	list := strings.Fields("parser queue widget ledger north branch river copper signal window module garden folder bridge packet " +
		"record harbour kernel candle orbit")
	out := make([]string, words)
	for i := range out {
		out[i] = fmt.Sprint(list[(n*7+i*i+i)%len(list)], (n*13+i)%97)
	}
	return strings.Join(out, " ")
}

// step is an agent's reaction to a request: a tool call and an answer.
func step(n, words int, request string) []ragctx.Message {
	id := fmt.Sprintf("call%d", n)
	use := ragctx.Block{Type: ragctx.BlockToolUse, ID: id, Name: "read_file", Input: fmt.Appendf(nil, `{"path":"src/part%d.go"}`, n)}
	return []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleUser, request),
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{use}},
		{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(lines(n, words))}}},
		ragctx.TextMessage(ragctx.RoleAssistant, fmt.Sprintf("Part %d is done. %s", n, lines(n+1, 12))),
	}
}

// TestPlantedRules: at twice the window, with default settings and without a model, rules,
// decisions and dates of users are in the view verbatim, in four languages.
func TestPlantedRules(t *testing.T) {
	sets := plantedSets(t)
	if testing.Short() {
		sets = sets[:1]
	}
	for _, set := range sets {
		for _, window := range []int{3000, 8000} {
			for _, talkative := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %d %v", set.name, window, talkative), func(t *testing.T) {
					shown, listed := plant(t, "", set.sentences, window, talkative)
					t.Logf("%d of %d in the view, %d in the list", shown, len(set.sentences), listed)
					if shown < 19 {
						t.Errorf("only %d of %d are in the view", shown, len(set.sentences))
					}
				})
			}
		}
	}
}

// TestPlantedRulesInOtherLayers: whatever takes the place of messages keeps them.
func TestPlantedRulesInOtherLayers(t *testing.T) {
	sets := plantedSets(t)[:4]
	if testing.Short() {
		sets = sets[:1]
	}
	for layer, window := range map[stage.Layer]int{
		stage.LayerCompaction: 8000, stage.LayerObservation: 8000, stage.LayerBuffer: 32_000,
	} {
		for _, set := range sets {
			if shown, listed := plant(t, layer, set.sentences, window, true); shown < 19 {
				t.Errorf("%s, %s: only %d of %d are in the view, %d in the list", layer, set.name, shown, len(set.sentences), listed)
			}
		}
	}
}

// plant has a user say sentences among requests until the conversation is twice the window,
// and returns how many of them the last view and its list have. A talkative user says half of
// all that is said.
func plant(t *testing.T, layer stage.Layer, sentences []string, window int, talkative bool) (shown, listed int) {
	t.Helper()
	const turns = 60
	o := view.Options{}
	if layer == stage.LayerObservation {
		o.Generator = noter
	}
	w := newWorld(t, o)
	w.setLayer(layer)
	each := 2 * window / turns / 2 // words of a turn, of two to three tokens each
	var v view.View
	for n := range turns {
		request, words := fmt.Sprintf("Please look at part %d of the %s.", n, lines(n, 1)), each
		if talkative {
			request, words = request+" I saw "+lines(n+5, each/2)+".", each/2
		}
		if n%2 == 1 && n/2 < len(sentences) {
			request = sentences[n/2] + " " + request
		}
		_, _, err := w.Append(t.Context(), key, view.AppendOptions{}, step(n, words, request)...)
		w.must(err)
		if _, err := w.Observe(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if n%3 < 2 {
			continue
		}
		v = w.view(view.ViewOptions{Budget: stage.Budget{Window: window, Tokens: window}})
		cost := 0
		for _, c := range v.Costs {
			cost += c
		}
		if cost > window {
			t.Fatalf("turn %d: %d of %d tokens", n, cost, window)
		}
	}
	raw, err := w.Compile(t.Context(), key, view.CompileOptions{Raw: true})
	w.must(err)
	if raw.Tokens < 2*window {
		t.Fatalf("the conversation has %d tokens", raw.Tokens)
	}
	text := texts(v.Messages)
	list := make(map[string]bool)
	for _, r := range v.Rules {
		list[r.Text] = true
	}
	for _, s := range sentences {
		if strings.Contains(text, s) {
			shown++
		} else {
			t.Logf("not shown: %s", s)
		}
		if list[s] {
			listed++
		}
	}
	return shown, listed
}
