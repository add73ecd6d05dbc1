package compact

import (
	"context"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/session"
)

// Compactor compacts conversations. It is safe for concurrent use if its generator is.
type Compactor struct{ opts Options }

// New returns a compactor. Options that cannot work are [ragctx.ErrInvalid].
func New(o Options) (*Compactor, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Compactor{opts: o}, nil
}

// Conversation is what is compacted.
type Conversation struct {
	// Messages are the conversation, or the view of it that the records describe, which
	// lacks only the words of orphan results.
	Messages []ragctx.Message
	// Records are the compactions so far, oldest first.
	Records []Record
	// Costs are those of the messages in the compactor's counter, where they are known;
	// nil has them counted.
	Costs []int
	// Original returns a message as it was said, where Messages are a view that shows less of
	// it; nil has them as they are. Summaries are made of what was said.
	Original func(ragctx.Message) ragctx.Message
	// Begun is told once, with the size of the view, that there is something to gain, before
	// a model is asked; nil is not.
	Begun func(Size)
}

// Result is what came of a compaction.
type Result struct {
	// Messages is the view after it, or as it was if nothing was done.
	Messages []ragctx.Message
	// Record is to be stored after the others; nil if nothing was done, and Reason says
	// why.
	Record *Record
	Reason string
	// Before and After are the sizes of the views; Over is by how many tokens the latter
	// exceeds the limit, which only what must stay can do, or a policy without one.
	Before, After Size
	Over          int
	// Warnings name the ways of summarising that failed before one did not.
	Warnings []Warning
	// Usage is what the model cost.
	Usage llm.Usage
}

// Warning says that a way of summarising failed, and why, in words for the operator.
type Warning struct {
	Strategy Strategy `json:"strategy"`
	Reason   string   `json:"reason"`
}

// Compact returns a shorter view of a conversation and the record that describes it. It
// does not ask whether it is due ([Options.Due]). Where nothing can be gained it does
// nothing, which is no error; the only error is that of the context. The input is not
// changed.
func (c *Compactor) Compact(ctx context.Context, conv Conversation) (Result, error) {
	w := c.newWork(conv)
	res := Result{Messages: w.shown(), Before: w.size(), After: w.size()}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	before := res.Messages
	if len(before) <= c.opts.MinMessages {
		res.Reason = fmt.Sprintf("%d messages are not more than %d", len(before), c.opts.MinMessages)
		return res, nil
	}
	if c.opts.Strategy == Prune || c.opts.Strategy == Auto && c.opts.Policy != A3S {
		if p, ok := w.prune(c.opts); ok && keeps(before, p.shown()) == nil && p.cost() < w.cost() {
			w = p
		}
	}
	limit := c.opts.Limit()
	if c.opts.Policy == A3S {
		limit = 0
	}
	done := len(w.pruned) > 0 && w.cost() <= limit
	if c.opts.Strategy != Prune && !done {
		if err := c.summarise(ctx, w, limit, &res); err != nil || res.Record != nil {
			return res, err
		}
	}
	switch {
	case len(w.pruned) > 0:
		w.begin()
		res.Reason = ""
		c.finish(&res, w, Record{Strategy: Prune, Reason: fmt.Sprintf("%d old outputs of tools are pruned", len(w.pruned))})
	case res.Reason == "":
		res.Reason = "no output of a tool is old and large enough to be pruned"
	}
	return res, nil
}

// summarise puts a summary into the place of what is between head and tail, by the first
// way that gives a view which holds.
func (c *Compactor) summarise(ctx context.Context, w *work, limit int, res *Result) error {
	rules := c.roomFor(w.statementTokens(c.opts.Counter))
	reserve := min(c.opts.SummaryTokens, max(limit/4, min(rules, limit/2)))
	cutting := newCutter(w.shown(), w.costs)
	cut, ok := cutting.cut(c.opts.KeepFirst, c.recent(len(w.items)), limit, reserve)
	if !ok {
		res.Reason = "there is nothing between the messages that stay"
		return nil
	}
	most := c.room(limit, cut, rules)
	if most <= 0 {
		res.Reason = fmt.Sprintf("the %d tokens between the messages that stay are too few for a summary", cut.covered)
		return nil
	}
	material, before, after := w.material(cut)
	w.begin()
	own := extract(material, after)
	if own.Goal == "" {
		own.Goal = Extract(before).Goal
	}
	for _, way := range c.ways() {
		text, err := c.write(ctx, way, material, own, most, res)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			rec := w.record(cut, text, way, c.opts)
			after := w.with(cut, rec, c.scale())
			if err = verified(w, after); err == nil {
				c.finish(res, after, rec)
				return nil
			}
		}
		res.Warnings = append(res.Warnings, Warning{Strategy: way, Reason: err.Error()})
	}
	res.Reason = "no summary was smaller than what it stands for"
	return nil
}

func (c *Compactor) scale() session.Scale { return c.opts.scale() }

// recent returns how many of n messages stay at the end.
func (c *Compactor) recent(n int) int {
	if c.opts.Policy == A3S {
		return c.opts.KeepLast
	}
	return min(c.opts.KeepLast, max(1, n/2))
}

// titleTokens is about what the titles of a summary cost, and ruleShare the part of it that
// what the user said may take from the rest.
const (
	titleTokens = 48
	ruleShare   = .75
)

// roomFor returns what a message costs that is a summary with rules of so many tokens.
func (c *Compactor) roomFor(rules int) int {
	if rules == 0 {
		return 0
	}
	return int(float64(rules+titleTokens)/ruleShare) + c.frame()
}

// frame returns what a summary costs beside its text.
func (c *Compactor) frame() int {
	return session.MessageOverhead + c.opts.Counter.Count(Marker+"\n\n"+standingNote+"\n\n")
}

// room returns what the text of a summary may cost: less than what it stands for, and
// what is left of the limit. Where less is left than what the user ruled wants, what stays
// is over the limit by itself; the rules have up to half of the limit all the same.
func (c *Compactor) room(limit int, cut cut, rules int) int {
	const least = 256
	most := min(c.opts.SummaryTokens, max(cut.covered*3/4, min(rules, cut.covered*9/10)))
	if limit > 0 {
		most = min(most, max(limit-cut.kept, least, min(rules, limit/2)))
	}
	return most - c.frame()
}

// ways returns how summaries are made, best first.
func (c *Compactor) ways() []Strategy {
	if c.opts.Generator == nil || c.opts.Strategy == Extractive {
		return []Strategy{Extractive}
	}
	return []Strategy{LLM, Extractive}
}

var errEmpty = errors.New("it is empty")

// write writes a summary.
func (c *Compactor) write(ctx context.Context, way Strategy, material []ragctx.Message, own Digest, most int, res *Result) (string, error) {
	d := own
	if way == LLM {
		asked, usage, err := c.askModel(ctx, material, own)
		res.Usage = usage
		if err != nil {
			return "", err
		}
		d = asked
	}
	text := d.within(most, c.opts.Counter)
	if text == "" {
		return "", errEmpty
	}
	return text, nil
}

// finish puts a view and its record into a result.
func (c *Compactor) finish(res *Result, w *work, rec Record) {
	if rec.ID == "" {
		rec.ID, rec.Created = c.opts.NewID(), c.opts.Now()
	}
	rec.Pruned = w.pruned
	res.Messages, res.After = w.shown(), w.size()
	rec.Before, rec.After = res.Before, res.After
	res.Record = &rec
	if limit := c.opts.Limit(); c.opts.Policy != A3S {
		res.Over = max(res.After.Tokens-limit, 0)
	}
}

// verified checks a view as [Verify] does, with costs that are known.
func verified(before, after *work) error {
	if after.cost() >= before.cost() {
		return errNotSmaller
	}
	return keeps(before.shown(), after.shown())
}

// Options returns the options with their defaults.
func (c *Compactor) Options() Options { return c.opts }
