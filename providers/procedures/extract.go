package procedures

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Defaults of a [Gate].
const (
	DefaultMinToolCalls  = 5
	DefaultMinConfidence = 0.7
)

// Gate selects the turns from which procedures are extracted. The zero value works.
type Gate struct {
	// Disabled turns extraction off.
	Disabled bool
	// MinToolCalls is the least number of tool calls of a turn, MinConfidence the least confidence
	// of its agent; 0 means the defaults.
	MinToolCalls  int
	MinConfidence float64
}

// withDefaults returns g with the defaults for unset fields.
func (g Gate) withDefaults() Gate {
	if g.MinToolCalls == 0 {
		g.MinToolCalls = DefaultMinToolCalls
	}
	if g.MinConfidence == 0 {
		g.MinConfidence = DefaultMinConfidence
	}
	return g
}

// Admits reports whether a procedure may be extracted from a turn. The turn must have succeeded,
// belong to a session, have enough tool calls, and state enough confidence. A turn without a
// confidence is rejected.
func (g Gate) Admits(t ragctx.Turn) bool {
	g = g.withDefaults()
	confidence, stated := Confidence(t)
	return !g.Disabled && t.Succeeded() && t.SessionID != "" && stated && confidence >= g.MinConfidence && countCalls(t) >= g.MinToolCalls
}

// Confidence returns the agent's confidence in a turn: its Confidence, or the number "confidence"
// in its metadata.
func Confidence(t ragctx.Turn) (c float64, ok bool) {
	if t.Confidence != nil {
		return ragctx.Clamp01(*t.Confidence), true
	}
	switch v := t.Metadata["confidence"].(type) {
	case float64:
		c = v
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return 0, false
		}
		c = f
	default:
		return 0, false
	}
	return c, c >= 0 && c <= 1
}

// TextFilter filters text before extraction. The zero value applies only the checks of Extract.
type TextFilter struct {
	// Redact removes secrets from a text.
	Redact func(string) string
	// IsOrder reports whether a text gives orders to a model.
	IsOrder func(string) bool
}

// Extract returns the procedure of a turn. It uses rules alone and is deterministic. It returns
// false for a turn without a procedure.
//
// A step is a successful call, with the values of the request replaced by placeholders. A call that
// failed and then succeeded is a pitfall. Final calls that check the result are the verification.
func Extract(t ragctx.Turn, filter TextFilter) (ragctx.NamedProcedure, bool) {
	if filter.Redact == nil {
		filter.Redact = func(s string) string { return s }
	}
	request := requestOf(filter.Redact(promptOf(t)))
	calls := callsOf(t, filter.Redact)
	if request == "" || len(calls) == 0 {
		return ragctx.NamedProcedure{}, false
	}
	values := valuesOf(request, calls)
	w := &writer{values: values, request: fold(request), isOrder: filter.IsOrder, given: make(map[string]string)}
	all := w.steps(calls)
	good := slices.DeleteFunc(slices.Clone(all), func(s step) bool { return s.failed })
	if len(good) == 0 {
		return ragctx.NamedProcedure{}, false
	}
	end := len(good)
	for end > 1 && good[end-1].check {
		end--
	}
	trigger := clipRunes(generalise(request, values), MaxTriggerRunes)
	k := ragctx.NamedProcedure{Name: nameFor(trigger, calls), ProcedureBody: TrimBody(ragctx.ProcedureBody{
		Trigger: trigger, Steps: stepTexts(good[:end]), Verification: stepTexts(good[end:]), Pitfalls: pitfalls(all), Tools: toolsOf(calls),
	})}
	k.Steps = k.Steps[:min(len(k.Steps), MaxEntries)]
	k.Verification = k.Verification[:min(len(k.Verification), MaxEntries)]
	return k, ValidateBody(k.ProcedureBody) == nil && ValidName(k.Name) == nil
}

func toolsOf(calls []call) []string {
	var out []string
	for _, c := range calls {
		if !slices.Contains(out, c.tool) && len(out) < MaxEntries {
			out = append(out, c.tool)
		}
	}
	return out
}

// promptOf returns the request of a turn: the user's first message.
func promptOf(t ragctx.Turn) string {
	for _, m := range t.Transcript() {
		if m.Role == ragctx.RoleUser || m.Role == "" {
			if s := strings.TrimSpace(withoutContext(m.Content.String())); s != "" {
				return s
			}
		}
	}
	return ""
}

var contextBlock = regexp.MustCompile(`(?s)<context[ >].*?</context>`)

// withoutContext removes context blocks from a prompt, because the user did not write them.
func withoutContext(s string) string {
	return contextBlock.ReplaceAllString(s, "")
}

// politeness matches polite words before a request.
var politeness = regexp.MustCompile(`(?i)^(please|pls|hey|hi|hello|ok|okay|so|now|then|again|could you|can you|would you|will you|` +
	`i need you to|i need to|i want you to|i want to|i'd like you to|i'd like to|i would like you to|we need to|we want to|let's|let us|` +
	`help me to|help me|how do i|how do we|how can i|how can we|bitte|kannst du|könntest du|können sie|por favor|puedes|podrías|` +
	`s'il te plaît|s'il vous plaît|peux-tu|pouvez-vous)[\s,:!]+`)

// requestOf returns the sentence of a prompt that states the request.
func requestOf(prompt string) string {
	line, _, _ := strings.Cut(prompt, "\n")
	request := line
	for s := range sentences(line) {
		if len(analysis.ContentFeatures(s)) > 0 {
			request = s
			break
		}
	}
	request = strings.TrimSpace(request)
	for {
		at := politeness.FindStringIndex(request)
		if at == nil {
			break
		}
		request = strings.TrimSpace(request[at[1]:])
	}
	request = strings.TrimRight(strings.Join(strings.Fields(request), " "), ".!? ")
	if len(analysis.ContentFeatures(request)) == 0 {
		return ""
	}
	return clipRunes(request, MaxTriggerRunes)
}

func sentences(s string) func(func(string) bool) {
	return func(yield func(string) bool) { sentence.Sentences(s, yield) }
}

// nameFor derives a name from a trigger: its first content words, up to a preposition. It adds
// names of values if these are too few, and uses the tools if the trigger has no content words.
func nameFor(trigger string, calls []call) string {
	parts := nameWords(withoutBraces(trigger))
	if len(parts) < 2 {
		parts = nameWords(strings.NewReplacer("{", " ", "}", " ").Replace(trigger))
	}
	name := Slug(strings.Join(parts, "-"))
	if name == "" {
		name = Slug("use-" + strings.Join(toolsOf(calls[:min(len(calls), 2)]), "-"))
	}
	if r := []rune(name); len(r) > maxNameRunes {
		name = strings.Trim(string(r[:maxNameRunes]), "-")
	}
	return name
}

// A name consists of a verb and its object.
const (
	maxNameWords = 3
	maxNameRunes = 48
)

func nameWords(text string) []string {
	var parts []string
	for i, w := range wordsOf(text) {
		lower := strings.ToLower(w.text)
		switch {
		case slices.Contains(prepositions, lower) && len(parts) > 1 && lower != "of":
			return parts
		case slices.Contains(prepositions, lower), i > 0 && len(analysis.ContentFeatures(w.text)) == 0:
			continue
		}
		if s := Slug(w.text); s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
		if len(parts) == maxNameWords {
			break
		}
	}
	return parts
}

// Similar reports whether two procedures do the same. They must share most of their steps, or
// nearly all of their tools, because people and models reword steps. They must also share name or
// trigger.
func Similar(a, b ragctx.NamedProcedure) bool {
	steps := dice(bag(a.Steps), bag(b.Steps))
	tools := dice(bag(a.Tools), bag(b.Tools)) >= 0.8
	if a.Name == b.Name {
		return tools || steps >= 0.5
	}
	return (tools || steps >= 0.7) && dice(bag([]string{withoutBraces(a.Trigger)}), bag([]string{withoutBraces(b.Trigger)})) >= 0.6
}

// bag counts the terms of texts.
func bag(texts []string) map[string]int {
	out := make(map[string]int)
	for _, s := range texts {
		for _, t := range analysis.Index(s) {
			out[t]++
		}
	}
	return out
}

// dice returns the Dice coefficient of two bags.
func dice(a, b map[string]int) float64 {
	var common, all int
	for t, n := range a {
		common += min(n, b[t])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(common) / float64(all)
}

// FreeName returns a name that no known procedure has.
func FreeName(name string, known []ragctx.NamedProcedure) string {
	free := name
	for n := 2; slices.ContainsFunc(known, func(k ragctx.NamedProcedure) bool { return k.Name == free }); n++ {
		suffix := "-" + strconv.Itoa(n)
		free = string([]rune(name)[:min(utf8.RuneCountInString(name), MaxNameRunes-len(suffix))]) + suffix
	}
	return free
}
