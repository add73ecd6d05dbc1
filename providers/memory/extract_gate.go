package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Gates that an item of a model must pass. Lengths are in Unicode code points.
const (
	MinImportance = 0.70
	MinConfidence = 0.75

	leastContent, mostContent = 20, 1200
	leastReason, mostReason   = 12, 500
	mostTags, mostTagBytes    = 8, 64
)

// judge accepts or rejects the items of one answer, in order.
type judge struct {
	*FactExtractor

	turn       ragctx.Turn
	ground     ground
	shown      []ragctx.Memory
	related    map[string]statement // statements of the related memories, by id
	items      []LLMItem
	rejected   []Rejection
	statements []statement // statements of the accepted items
	at         []int       // positions of the accepted items in the answer
}

func newJudge(a *FactExtractor, turn ragctx.Turn, pieces []piece, shown []ragctx.Memory) *judge {
	j := &judge{FactExtractor: a, turn: turn, ground: newGround(pieces, a.opts.Embedder), shown: shown, related: make(map[string]statement)}
	j.ground.related = make(map[string]bool)
	for _, m := range shown {
		for _, t := range analysis.Index(shorten(m.Content, relatedChars)) {
			j.ground.related[t] = true
		}
		if m.ID != "" {
			j.related[m.ID] = newStatement(m.Content)
		}
	}
	return j
}

// judge accepts an item or records its rejection.
func (j *judge) judge(at int, raw string) {
	it, err := readItem(raw)
	if err == nil {
		err = j.take(at, it)
	}
	if err != nil {
		j.rejected = append(j.rejected, Rejection{at, err.Error()})
	}
}

func (j *judge) take(at int, it *LLMItem) error {
	for _, gate := range [...]func(*LLMItem) error{checkTexts, checkWeights, checkEnums, checkTags, j.clean, j.references, j.grounded} {
		if err := gate(it); err != nil {
			return err
		}
	}
	s := newStatement(it.Content)
	for _, m := range j.shown {
		if known := j.related[m.ID]; !slices.Contains(it.Supersedes, m.ID) && known.covers(s) {
			return fmt.Errorf("it repeats memory %s", ragctx.Clip(m.ID))
		}
	}
	for i, other := range j.statements {
		switch {
		case other.covers(s):
			j.items[i].merge(it)
		case s.covers(other):
			it.merge(&j.items[i])
			j.items[i], j.statements[i] = *it, s
		default:
			continue
		}
		return fmt.Errorf("it duplicates item %d and is merged into it", j.at[i])
	}
	if len(j.items) == maxItems {
		return fmt.Errorf("it exceeds the limit of %d items", maxItems)
	}
	j.items, j.statements, j.at = append(j.items, *it), append(j.statements, s), append(j.at, at)
	return nil
}

// merge adds the other attributes of an item with the same statement.
func (i *LLMItem) merge(o *LLMItem) {
	i.Importance, i.Confidence = max(i.Importance, o.Importance), max(i.Confidence, o.Confidence)
	i.Tags = distinct(slices.Concat(i.Tags, o.Tags))
	i.Tags = i.Tags[:min(len(i.Tags), mostTags)]
	if i.From == SpeakerUser && o.From == SpeakerUser {
		i.Supersedes = distinct(slices.Concat(i.Supersedes, o.Supersedes))
		i.ConflictsWith = distinct(slices.Concat(i.ConflictsWith, o.ConflictsWith))
	}
	if i.Scope != o.Scope {
		i.Scope = ScopeUser // the narrower scope
	}
	if i.When == "" {
		i.When, i.Occurred = o.When, o.Occurred
	}
}

// distinct returns the strings without duplicates, in order.
func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// checkTexts normalizes and checks content and reason.
func checkTexts(it *LLMItem) error {
	it.Content, it.Reason = tidy(it.Content), tidy(it.Reason)
	switch n := utf8.RuneCountInString(it.Content); {
	case n < leastContent:
		return fmt.Errorf("content has %d characters; the least is %d", n, leastContent)
	case n > mostContent:
		return fmt.Errorf("content has %d characters; the most is %d", n, mostContent)
	}
	switch n := utf8.RuneCountInString(it.Reason); {
	case n < leastReason:
		return fmt.Errorf("reason has %d characters; the least is %d", n, leastReason)
	case n > mostReason:
		return fmt.Errorf("reason has %d characters; the most is %d", n, mostReason)
	}
	return nil
}

// tidy returns a text without control characters, with single spaces and without blank lines.
func tidy(s string) string {
	var lines []string
	for l := range strings.Lines(strings.ToValidUTF8(s, "\uFFFD")) {
		l = strings.Join(strings.FieldsFunc(l, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
		if l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

func checkWeights(it *LLMItem) error {
	for _, g := range [...]struct {
		name         string
		value, least float64
	}{{"importance", it.Importance, MinImportance}, {"confidence", it.Confidence, MinConfidence}} {
		switch {
		case g.value > 1:
			return fmt.Errorf("%s is over 1", g.name)
		case !(g.value >= g.least):
			return fmt.Errorf("%s is %.2f; the least is %.2f", g.name, g.value, g.least)
		}
	}
	return nil
}

// checkEnums checks the enumerated fields.
func checkEnums(it *LLMItem) error {
	it.Type, it.Source, it.Scope = ragctx.MemoryType(lower(it.Type)), ItemSource(lower(it.Source)), ItemScope(lower(it.Scope))
	want := it.Source.memoryType()
	switch {
	case it.Type != ragctx.MemorySemantic && it.Type != ragctx.MemoryProcedural:
		return errors.New("memory_type is neither semantic nor procedural")
	case want == "":
		return errors.New("source must be project_fact, preference, decision, workflow or failure")
	case it.Type != want:
		return fmt.Errorf("a %s is %s, not %s", it.Source, want, it.Type)
	case it.Scope != ScopeUser && it.Scope != ScopeWorkspace:
		return errors.New("scope is neither user nor workspace")
	}
	return nil
}

func lower[T ~string](s T) string { return strings.ToLower(strings.TrimSpace(string(s))) }

// checkTags lowercases and deduplicates the tags.
func checkTags(it *LLMItem) error {
	var list []string
	for _, t := range it.Tags {
		t = strings.ToLower(strings.Join(strings.Fields(tidy(t)), " "))
		if len(t) > mostTagBytes {
			return fmt.Errorf("a tag has %d bytes; the most is %d", len(t), mostTagBytes)
		}
		if t != "" {
			list = append(list, t)
		}
	}
	if it.Tags = distinct(list); len(it.Tags) > mostTags {
		return fmt.Errorf("there are %d tags; the most is %d", len(it.Tags), mostTags)
	}
	return nil
}

// clean rejects an item that contains a secret or repeats context given to the assistant.
func (j *judge) clean(it *LLMItem) error {
	for _, s := range append([]string{it.Content, it.Reason, it.When}, it.Tags...) {
		if _, found := j.redact(s); found {
			return errors.New("it contains a likely secret")
		}
	}
	if tidy(j.opts.Clean(it.Content)) != it.Content {
		return errors.New("it repeats context that was given to the assistant")
	}
	return nil
}

// references checks the ids that an item names.
func (j *judge) references(it *LLMItem) error {
	it.Supersedes, it.ConflictsWith = distinct(it.Supersedes), distinct(it.ConflictsWith)
	for _, f := range [...]struct {
		name string
		ids  []string
	}{{"supersedes", it.Supersedes}, {"conflicts_with", it.ConflictsWith}} {
		for _, id := range f.ids {
			if _, shown := j.related[id]; !shown {
				return fmt.Errorf("%s names a memory that was not shown", f.name)
			}
		}
	}
	return nil
}

// grounded rejects an item that the turn does not support.
func (j *judge) grounded(it *LLMItem) error {
	named := make(map[string]bool) // words of the memories it names are not new
	for _, id := range slices.Concat(it.Supersedes, it.ConflictsWith) {
		for w := range j.related[id].words {
			named[w] = true
		}
	}
	found, err := j.ground.find(it.Content, named)
	if err != nil {
		return err
	}
	it.From, it.Shared = found.from, found.share
	message := j.turn.Transcript()[found.message]
	it.Span = ragctx.TurnSpan{Message: found.message, End: utf8.RuneCountInString(message.Content.String())}
	if it.From != SpeakerUser {
		it.Supersedes, it.ConflictsWith = nil, nil
	}
	it.When = tidy(it.When)
	if it.When == "" || it.Occurred.IsZero() || !j.ground.says(it.When) {
		it.When, it.Occurred = "", time.Time{}
	}
	return nil
}
