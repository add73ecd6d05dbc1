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

// Why messages are hidden, of which there are many, so that they are counted and not named.
const (
	ReasonSection   session.Reason = "section"   // they are in sections that are not asked for
	ReasonTrace     session.Reason = "trace"     // they are traces of other executions
	ReasonCompacted session.Reason = "compacted" // a summary stands for them
	ReasonPruned    session.Reason = "pruned"    // they are shown without old outputs of tools
	ReasonStage     session.Reason = "stage"     // a stage has left them out, or shows something else; observations may stand for them
)

// Cut is a message that is not shown, or not whole.
type Cut struct {
	ID string `json:"id,omitempty"`
	// Partial says that the rest of the message is shown.
	Partial bool `json:"partial,omitempty"`
	// Tokens are what was saved.
	Tokens int            `json:"tokens"`
	Reason session.Reason `json:"reason"`

	Role ragctx.Role `json:"-"`

	place int // on the branch; -1 for what is not of it
}

// Hidden says of how many messages nothing, or less, is shown for a reason that many share.
type Hidden struct {
	Reason   session.Reason `json:"reason"`
	Messages int            `json:"messages"`
	// Tokens are what was saved.
	Tokens int `json:"tokens"`
}

// account is what of a branch is not shown, and why: each of its messages is shown whole,
// in a cut, or counted as hidden.
type account struct {
	cuts   []Cut    // in the order of the branch
	hidden []Hidden // in the order of the reasons
	places []int    // of what is shown: on the branch, -1 for what was made
}

// accounting finds out why messages of a branch are not shown.
type accounting struct {
	base
	table    *table
	choice   choice
	run      session.Execution
	given    []bool // to stages that have run; nil where none have
	covered  []bool // by summaries
	pruned   map[string]bool
	byReason map[session.Reason]*Hidden
	out      account
}

// given reports of each message of the branch whether it is among messages, whole or not.
func (b base) given(messages []ragctx.Message, prices *pricing) []bool {
	out := make([]bool, len(b.of.entries))
	ids := finder{of: b.of}
	for i, at := range prices.places(messages) {
		if at < 0 {
			at = ids.place(messages[i].ID)
		}
		if at >= 0 {
			out[at] = true
		}
	}
	return out
}

// account says what of the branch is not shown where messages are. Given are the messages
// that stages began with that have made these; nil where there were none.
func (b base) account(o CompileOptions, messages []ragctx.Message, given []bool, prices *pricing) (account, error) {
	compiler, err := session.NewCompiler(o.Compiler, o.Sections...)
	if err != nil {
		return account{}, err
	}
	costs, places := prices.costs(messages), prices.places(messages)
	a := accounting{base: b, table: prices.table, choice: choiceOf(compiler), run: o.Execution, given: given}
	a.byReason = make(map[session.Reason]*Hidden)
	a.out.places = slices.Clone(places)
	shown := make([]bool, len(b.of.entries))
	ids := finder{of: b.of}
	a.cover(&ids)
	for i, at := range a.out.places {
		m := &messages[i]
		if whole := at >= 0 && !shown[at] && b.of.entries[at].Message.ID == m.ID; !whole {
			if at = ids.place(m.ID); at >= 0 && shown[at] {
				at = -1
			}
			if at >= 0 { // with a content that was made of its own
				a.changed(at, m, costs[i])
			}
		}
		if a.out.places[i] = at; at >= 0 {
			shown[at] = true
		}
	}
	for _, e := range b.of.entries {
		if n, tokens := summarizedBy(e); n > 0 { // which are beside the branch
			a.hideMany(ReasonCompacted, n, tokens)
		}
	}
	for i, yes := range shown {
		if !yes {
			a.missing(i)
		}
	}
	inOrder(a.out.cuts)
	for _, why := range [...]session.Reason{ReasonSection, ReasonTrace, ReasonCompacted, ReasonPruned, ReasonStage} {
		if h := a.byReason[why]; h != nil {
			a.out.hidden = append(a.out.hidden, *h)
		}
	}
	return a.out, nil
}

// cover finds out for which messages summaries stand.
func (a *accounting) cover(ids *finder) {
	if len(a.records) == 0 {
		return
	}
	ends := make([]int, len(a.of.entries)+1)
	for _, r := range a.records {
		if from, to := ids.place(r.From), ids.place(r.To); 0 <= from && from <= to {
			ends[from]++
			ends[to+1]--
		}
	}
	a.covered, a.pruned = make([]bool, len(a.of.entries)), make(map[string]bool)
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

// missing notes that a message of the branch is not shown.
func (a *accounting) missing(i int) {
	e := &a.of.entries[i]
	switch m, unpaired := &e.Message, session.Unpaired(e.Message); {
	case !a.choice.has(e.Section):
		a.hide(ReasonSection, a.table.cost(i))
	case m.IsEmpty():
		a.cut(i, session.ReasonEmpty, a.table.cost(i))
	case !a.choice.traces && !a.run.Shows(m):
		a.hide(ReasonTrace, a.table.cost(i))
	case i <= a.staged:
		a.hide(a.stageReason(ReasonCompacted), a.table.cost(i))
	case a.given != nil && a.given[i] && unpaired == "" && !a.standsFor(i):
		a.hide(ReasonStage, a.table.cost(i))
	case a.covered != nil && (a.covered[i] || unpaired == ""):
		a.hide(ReasonCompacted, a.table.cost(i))
	default:
		a.cut(i, unpaired, a.table.cost(i))
	}
}

// changed notes that a message of the branch may be shown otherwise than it was said.
func (a *accounting) changed(i int, as *ragctx.Message, cost int) {
	was := &a.of.entries[i].Message
	saved := max(a.table.cost(i)-cost, 0)
	if i <= a.staged {
		if !equal(*was, *as) {
			a.hide(a.stageReason(ReasonPruned), saved)
		}
		return
	}
	unpaired := session.Unpaired(ragctx.Message{Content: gone(was.Content, as.Content)})
	switch {
	case a.given != nil && !a.pruned[was.ID] && unpaired == "" && !equal(*was, *as):
		a.hide(ReasonStage, saved)
	case unpaired != "":
		a.cut(i, unpaired, saved)
		a.out.cuts[len(a.out.cuts)-1].Partial = true
	case saved > 0:
		a.hide(ReasonPruned, saved)
	}
}

// standsFor reports whether a summary stands for a message. One of messages without ids does
// not say for which.
func (a *accounting) standsFor(i int) bool {
	if a.covered != nil && a.covered[i] {
		return true
	}
	return slices.ContainsFunc(a.records, func(r compact.Record) bool { return r.Summary != "" && r.From == "" })
}

// stageReason returns why a stage shows less of a message: as a compaction does, if that is
// what the stage is.
func (a *accounting) stageReason(compacted session.Reason) session.Reason {
	if a.stage == (stage.Compaction{}).Name() {
		return compacted
	}
	return ReasonStage
}

func (a *accounting) cut(i int, why session.Reason, tokens int) {
	m := &a.of.entries[i].Message
	a.out.cuts = append(a.out.cuts, Cut{ID: m.ID, Role: m.Role, Tokens: tokens, Reason: why, place: i})
}

func (a *accounting) hide(why session.Reason, tokens int) { a.hideMany(why, 1, tokens) }

func (a *accounting) hideMany(why session.Reason, messages, tokens int) {
	h := a.byReason[why]
	if h == nil {
		h = &Hidden{Reason: why}
		a.byReason[why] = h
	}
	h.Messages, h.Tokens = h.Messages+messages, h.Tokens+tokens
}

// gone returns the blocks of a content that are not in what is left of it, which has the
// others in their order.
func gone(was, left ragctx.Content) (out ragctx.Content) {
	for _, b := range was {
		if len(left) > 0 && stays(&b, &left[0]) {
			left = left[1:]
		} else {
			out = append(out, b)
		}
	}
	return out
}

// stays reports whether a block is what is left of another one, whose output may be pruned.
func stays(b, left *ragctx.Block) bool {
	return b.Type == left.Type && b.ID == left.ID && b.ToolUseID == left.ToolUseID && b.Text == left.Text && bytes.Equal(b.Data, left.Data)
}

// inOrder puts cuts in the order of the branch, in which they mostly are.
func inOrder(cuts []Cut) {
	byPlace := func(a, b Cut) int { return cmp.Compare(a.place, b.place) }
	if !slices.IsSortedFunc(cuts, byPlace) {
		slices.SortStableFunc(cuts, byPlace)
	}
}

// limited adds what limits have left out of what is shown, oldest first. Of a message that
// was cut before the rest goes, too.
func (a *account) limited(cuts []Cut) []Cut {
	inOrder(cuts)
	if len(a.cuts) == 0 {
		return cuts
	}
	out := make([]Cut, 0, len(a.cuts)+len(cuts))
	for _, c := range cuts {
		for len(a.cuts) > 0 && c.place >= 0 && a.cuts[0].place <= c.place {
			if a.cuts[0].place == c.place {
				c.Tokens += a.cuts[0].Tokens
			} else {
				out = append(out, a.cuts[0])
			}
			a.cuts = a.cuts[1:]
		}
		out = append(out, c)
	}
	return append(out, a.cuts...)
}

// choice is which messages a compiler of package session chooses.
type choice struct {
	sections []string // all, if there are none
	traces   bool     // also those of other executions
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

// finder finds messages of a branch by their ids: a few by looking, more by an index.
type finder struct {
	of    *loaded
	asked int
	at    map[string]int
}

// place returns where a message is that something else is shown of, -1 if nowhere.
func (f *finder) place(id string) int {
	const few = 8
	if f.asked++; f.asked <= few {
		return f.of.place(id)
	}
	if f.at == nil {
		f.at = make(map[string]int, len(f.of.entries))
		for i := range f.of.entries {
			f.at[f.of.entries[i].Message.ID] = i
		}
	}
	if at, ok := f.at[id]; ok {
		return at
	}
	return -1
}
