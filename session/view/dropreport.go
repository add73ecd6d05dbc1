package view

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// Reasons that drop many messages, which are therefore counted and not listed.
const (
	ReasonSection   session.Reason = "section"   // their section is not selected
	ReasonTrace     session.Reason = "trace"     // traces of other executions
	ReasonCompacted session.Reason = "compacted" // replaced by a summary
	ReasonPruned    session.Reason = "pruned"    // shown without old tool outputs
	ReasonStage     session.Reason = "stage"     // dropped or changed by a stage, perhaps replaced by observations
)

// Drop is a message that is not shown, completely or in part.
type Drop struct {
	ID string `json:"id,omitempty"`
	// Partial means that the rest of the message is shown.
	Partial bool `json:"partial,omitempty"`
	// Tokens is the cost saved.
	Tokens int            `json:"tokens"`
	Reason session.Reason `json:"reason"`

	Role ragctx.Role `json:"-"`

	place int // index on the branch; -1 for a message made by a stage
}

// DropTotal counts the messages that are dropped or shortened for a common reason.
type DropTotal struct {
	Reason   session.Reason `json:"reason"`
	Messages int            `json:"messages"`
	// Tokens is the cost saved.
	Tokens int `json:"tokens"`
}

// dropReport describes the messages of a branch that are not shown: each message is shown
// completely, listed as dropped, or counted in a total.
type dropReport struct {
	dropped []Drop      // in the order of the branch
	totals  []DropTotal // in the order of the reasons
	places  []int       // of the shown messages: index on the branch, or -1 if made by a stage
}

// dropReporter builds a dropReport.
type dropReporter struct {
	base
	table    *costTable
	choice   choice
	run      session.Execution
	given    []bool // messages that the stages received; nil without stages
	covered  []bool // messages covered by summaries
	pruned   map[string]bool
	byReason map[session.Reason]*DropTotal
	out      dropReport
}

// given reports for each message of the branch whether it is among messages, completely or in part.
func (b base) given(messages []ragctx.Message, tokenCosts *branchCosts) []bool {
	out := make([]bool, len(b.branch.entries))
	ids := finder{branch: b.branch}
	for i, at := range tokenCosts.places(messages) {
		if at < 0 {
			at = ids.place(messages[i].ID)
		}
		if at >= 0 {
			out[at] = true
		}
	}
	return out
}

// dropReport compares the branch with the shown messages. given marks the messages that the stages
// received; it is nil without stages.
func (b base) dropReport(o CompileOptions, messages []ragctx.Message, given []bool, tokenCosts *branchCosts) (dropReport, error) {
	compiler, err := session.NewCompiler(o.Compiler, o.Sections...)
	if err != nil {
		return dropReport{}, err
	}
	costs, places := tokenCosts.costs(messages), tokenCosts.places(messages)
	a := dropReporter{base: b, table: tokenCosts.table, choice: choiceOf(compiler), run: o.Execution, given: given}
	a.byReason = make(map[session.Reason]*DropTotal)
	a.out.places = slices.Clone(places)
	shown := make([]bool, len(b.branch.entries))
	ids := finder{branch: b.branch}
	a.cover(&ids)
	for i, at := range a.out.places {
		m := &messages[i]
		if whole := at >= 0 && !shown[at] && b.branch.entries[at].Message.ID == m.ID; !whole {
			if at = ids.place(m.ID); at >= 0 && shown[at] {
				at = -1
			}
			if at >= 0 { // a changed copy
				a.changed(at, m, costs[i])
			}
		}
		if a.out.places[i] = at; at >= 0 {
			shown[at] = true
		}
	}
	for _, e := range b.branch.entries {
		if n, tokens := summarizedBy(e); n > 0 { // which are not on the branch
			a.countMany(ReasonCompacted, n, tokens)
		}
	}
	for i, yes := range shown {
		if !yes {
			a.missing(i)
		}
	}
	sortDropped(a.out.dropped)
	for _, why := range [...]session.Reason{ReasonSection, ReasonTrace, ReasonCompacted, ReasonPruned, ReasonStage} {
		if h := a.byReason[why]; h != nil {
			a.out.totals = append(a.out.totals, *h)
		}
	}
	return a.out, nil
}

// cover determines the messages covered by summaries.
func (a *dropReporter) cover(ids *finder) {
	if len(a.records) == 0 {
		return
	}
	ends := make([]int, len(a.branch.entries)+1)
	for _, r := range a.records {
		if from, to := ids.place(r.From), ids.place(r.To); 0 <= from && from <= to {
			ends[from]++
			ends[to+1]--
		}
	}
	a.covered, a.pruned = make([]bool, len(a.branch.entries)), make(map[string]bool)
	for _, r := range a.records {
		for _, p := range r.Pruned {
			a.pruned[p.MessageID] = true
		}
	}
	within := 0
	for i := range a.covered {
		within += ends[i]
		a.covered[i] = within > 0
	}
}

// missing records that a message of the branch is not shown.
func (a *dropReporter) missing(i int) {
	e := &a.branch.entries[i]
	switch m, unpaired := &e.Message, session.Unpaired(e.Message); {
	case !a.choice.has(e.Section):
		a.count(ReasonSection, a.table.cost(i))
	case m.IsEmpty():
		a.drop(i, session.ReasonEmpty, a.table.cost(i))
	case !a.choice.traces && !a.run.Shows(m):
		a.count(ReasonTrace, a.table.cost(i))
	case i <= a.staged:
		a.count(a.stageReason(ReasonCompacted), a.table.cost(i))
	case a.given != nil && a.given[i] && unpaired == "" && !a.isSummarized(i):
		a.count(ReasonStage, a.table.cost(i))
	case a.covered != nil && (a.covered[i] || unpaired == ""):
		a.count(ReasonCompacted, a.table.cost(i))
	default:
		a.drop(i, unpaired, a.table.cost(i))
	}
}

// changed records that a message of the branch may be shown in another form.
func (a *dropReporter) changed(i int, as *ragctx.Message, cost int) {
	was := &a.branch.entries[i].Message
	saved := max(a.table.cost(i)-cost, 0)
	if i <= a.staged {
		if !equal(*was, *as) {
			a.count(a.stageReason(ReasonPruned), saved)
		}
		return
	}
	unpaired := session.Unpaired(ragctx.Message{Content: removedBlocks(was.Content, as.Content)})
	switch {
	case a.given != nil && !a.pruned[was.ID] && unpaired == "" && !equal(*was, *as):
		a.count(ReasonStage, saved)
	case unpaired != "":
		a.drop(i, unpaired, saved)
		a.out.dropped[len(a.out.dropped)-1].Partial = true
	case saved > 0:
		a.count(ReasonPruned, saved)
	}
}

// isSummarized reports whether a summary replaces a message. A summary of messages without ids may
// replace any.
func (a *dropReporter) isSummarized(i int) bool {
	if a.covered != nil && a.covered[i] {
		return true
	}
	return slices.ContainsFunc(a.records, func(r compact.Record) bool { return r.Summary != "" && r.From == "" })
}

// stageReason returns the reason for a message changed by a stage: the reason of a compaction if the
// stage is the compaction.
func (a *dropReporter) stageReason(compacted session.Reason) session.Reason {
	if a.stage == (stage.Compaction{}).Name() {
		return compacted
	}
	return ReasonStage
}

func (a *dropReporter) drop(i int, why session.Reason, tokens int) {
	m := &a.branch.entries[i].Message
	a.out.dropped = append(a.out.dropped, Drop{ID: m.ID, Role: m.Role, Tokens: tokens, Reason: why, place: i})
}

func (a *dropReporter) count(why session.Reason, tokens int) { a.countMany(why, 1, tokens) }

func (a *dropReporter) countMany(why session.Reason, messages, tokens int) {
	h := a.byReason[why]
	if h == nil {
		h = &DropTotal{Reason: why}
		a.byReason[why] = h
	}
	h.Messages, h.Tokens = h.Messages+messages, h.Tokens+tokens
}

// removedBlocks returns the blocks of a content that are not in the rest, which is in the same
// order.
func removedBlocks(was, left ragctx.Content) (out ragctx.Content) {
	for _, b := range was {
		if len(left) > 0 && isSameBlock(&b, &left[0]) {
			left = left[1:]
		} else {
			out = append(out, b)
		}
	}
	return out
}

// isSameBlock reports whether rest is a block, possibly with pruned output.
func isSameBlock(b, left *ragctx.Block) bool {
	return b.Type == left.Type && b.ID == left.ID && b.ToolUseID == left.ToolUseID && b.Text == left.Text && bytes.Equal(b.Data, left.Data)
}

// sortDropped sorts into the order of the branch. The input is mostly sorted.
func sortDropped(cuts []Drop) {
	byPlace := func(a, b Drop) int { return cmp.Compare(a.place, b.place) }
	if !slices.IsSortedFunc(cuts, byPlace) {
		slices.SortStableFunc(cuts, byPlace)
	}
}

// mergeDropped adds the messages dropped by limits, and merges them with partly dropped ones.
func (a *dropReport) mergeDropped(cuts []Drop) []Drop {
	sortDropped(cuts)
	if len(a.dropped) == 0 {
		return cuts
	}
	out := make([]Drop, 0, len(a.dropped)+len(cuts))
	for _, c := range cuts {
		for len(a.dropped) > 0 && c.place >= 0 && a.dropped[0].place <= c.place {
			if a.dropped[0].place == c.place {
				c.Tokens += a.dropped[0].Tokens
			} else {
				out = append(out, a.dropped[0])
			}
			a.dropped = a.dropped[1:]
		}
		out = append(out, c)
	}
	return append(out, a.dropped...)
}

// choice is the selection of messages by a compiler.
type choice struct {
	sections []string // empty means all
	traces   bool     // whether to include traces of other executions
}

func choiceOf(compiler session.Compiler) choice {
	switch c := compiler.(type) {
	case session.CurrentTrace:
		return choice{sections: c.Sections}
	case session.SelectedSections:
		if len(c.Names) == 0 {
			return choice{[]string{session.SectionMessages}, true}
		}
		return choice{c.Names, true}
	}
	return choice{traces: true}
}

func (c choice) has(section string) bool {
	return len(c.sections) == 0 || slices.Contains(c.sections, section)
}

// finder finds messages of a branch by id: the first few by a scan, more by an index.
type finder struct {
	branch *branch
	asked  int
	at     map[string]int
}

// place returns the index of a message on the branch, or -1.
func (f *finder) place(id string) int {
	const few = 8
	if f.asked++; f.asked <= few {
		return f.branch.place(id)
	}
	if f.at == nil {
		f.at = make(map[string]int, len(f.branch.entries))
		for i := range f.branch.entries {
			f.at[f.branch.entries[i].Message.ID] = i
		}
	}
	if at, ok := f.at[id]; ok {
		return at
	}
	return -1
}
