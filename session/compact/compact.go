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

// New returns a compactor. Invalid options are [ragctx.ErrInvalid].
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

// Conversation is the input of a compaction.
type Conversation struct {
	// Messages are the conversation, or the view that Records describe.
	Messages []ragctx.Message
	// Records are the earlier compactions, oldest first.
	Records []Record
	// Costs are the token costs of the messages in the compactor's counter, if known; nil means
	// that they are counted.
	Costs []int
	// Original returns the full message if Messages are a view that shortens it; nil means that
	// they are not shortened. Summaries are made of the originals.
	Original func(ragctx.Message) ragctx.Message
	// OnBegin, if not nil, is called at most once with the size of the view, before a model is
	// called, when the compaction can reduce the view.
	OnBegin func(Size)
}

// Result is the outcome of a compaction.
type Result struct {
	// Messages is the new view, or the old one if nothing was done.
	Messages []ragctx.Message
	// Record is to be stored after the others. It is nil if nothing was done, and Reason says why.
	Record *Record
	Reason string
	// Before and After are the sizes of the views. Over is the excess of After over the limit in
	// tokens, caused by messages that must stay or a policy without a limit.
	Before, After Size
	Over          int
	// Warnings list the strategies that failed before one succeeded.
	Warnings []Warning
	// Usage is the token usage of the model.
	Usage llm.Usage
}

// Warning reports to the operator that a strategy failed, and why.
type Warning struct {
	Strategy Strategy `json:"strategy"`
	Reason   string   `json:"reason"`
}

// Compact returns a shorter view of a conversation and its record. It does not check whether
// compaction is due ([Options.Due]). If nothing can be gained it does nothing, which is not an
// error; it fails only if the context ends. The input is not changed.
func (c *Compactor) Compact(ctx context.Context, conv Conversation) (Result, error) {
	w := c.newWork(conv)
	res := Result{Messages: w.view(), Before: w.size(), After: w.size()}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	before := res.Messages
	if len(before) <= c.opts.MinMessages {
		res.Reason = fmt.Sprintf("%d messages are not more than %d", len(before), c.opts.MinMessages)
		return res, nil
	}
	if c.opts.Strategy == Prune || c.opts.Strategy == Auto && c.opts.Policy != A3S {
		if p, ok := w.prune(c.opts); ok && verifyContent(before, p.view()) == nil && p.cost() < w.cost() {
			w = p
		}
	}
	limit := c.opts.Limit()
	if c.opts.Policy == A3S {
		limit = 0
	}
	done := len(w.pruned) > 0 && w.cost() <= limit
	if c.opts.Strategy != Prune && !done {
		if err := c.summarize(ctx, w, limit, &res); err != nil || res.Record != nil {
			return res, err
		}
	}
	switch {
	case len(w.pruned) > 0:
		w.begin()
		res.Reason = ""
		c.finish(&res, w, Record{Strategy: Prune, Reason: fmt.Sprintf("%d old tool outputs are pruned", len(w.pruned))})
	case res.Reason == "":
		res.Reason = "no tool output is old and large enough to be pruned"
	}
	return res, nil
}

// summarize replaces the messages between head and tail by a summary, with the first strategy that
// gives a valid view.
func (c *Compactor) summarize(ctx context.Context, w *work, limit int, res *Result) error {
	rules := c.rulesCost(w.statementTokens(c.opts.Counter))
	reserve := min(c.opts.SummaryTokens, max(limit/4, min(rules, limit/2)))
	cutting := newCutter(w.view(), w.costs)
	cut, ok := cutting.cut(c.opts.KeepFirst, c.recent(len(w.items)), limit, reserve)
	if !ok {
		res.Reason = "there is nothing between the messages that stay"
		return nil
	}
	most := c.summaryBudget(limit, cut, rules)
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
	for _, strategy := range c.strategies() {
		text, err := c.write(ctx, strategy, material, own, most, res)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			rec := w.record(cut, text, strategy, c.opts)
			after := w.replaceRange(cut, rec, c.scale())
			if err = verifyView(w, after); err == nil {
				c.finish(res, after, rec)
				return nil
			}
		}
		res.Warnings = append(res.Warnings, Warning{Strategy: strategy, Reason: err.Error()})
	}
	res.Reason = "no summary was smaller than the messages that it replaces"
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

// titleTokens is the approximate cost of a summary's headings. ruleShare is the share of a summary
// that statements of the user may take.
const (
	titleTokens = 48
	ruleShare   = .75
)

// rulesCost returns the cost of a summary message with rules of the given cost.
func (c *Compactor) rulesCost(rules int) int {
	if rules == 0 {
		return 0
	}
	return int(float64(rules+titleTokens)/ruleShare) + c.frame()
}

// frame returns the cost of a summary message without its text.
func (c *Compactor) frame() int {
	return session.MessageOverhead + c.opts.Counter.Count(Marker+"\n\n"+summaryNote+"\n\n")
}

// summaryBudget returns the tokens that a summary's text may cost: less than the messages it
// replaces, within the rest of the limit. If the rest is too small for the rules of the user, the
// remaining messages exceed the limit anyway; the rules then get up to half of the limit.
func (c *Compactor) summaryBudget(limit int, cut cut, rules int) int {
	const least = 256
	most := min(c.opts.SummaryTokens, max(cut.covered*3/4, min(rules, cut.covered*9/10)))
	if limit > 0 {
		most = min(most, max(limit-cut.kept, least, min(rules, limit/2)))
	}
	return most - c.frame()
}

// strategies returns the strategies to try, best first.
func (c *Compactor) strategies() []Strategy {
	if c.opts.Generator == nil || c.opts.Strategy == Extractive {
		return []Strategy{Extractive}
	}
	return []Strategy{LLM, Extractive}
}

var errEmpty = errors.New("the summary is empty")

// write writes a summary.
func (c *Compactor) write(ctx context.Context, strategy Strategy, material []ragctx.Message, own Digest, most int,
	res *Result,
) (string, error) {
	d := own
	if strategy == LLM {
		asked, usage, err := c.askModel(ctx, material, own)
		res.Usage = usage
		if err != nil {
			return "", err
		}
		d = asked
	}
	text := d.fit(most, c.opts.Counter)
	if text == "" {
		return "", errEmpty
	}
	return text, nil
}

// finish stores a view and its record in a result.
func (c *Compactor) finish(res *Result, w *work, rec Record) {
	if rec.ID == "" {
		rec.ID, rec.Created = c.opts.NewID(), c.opts.Now()
	}
	rec.Pruned = w.pruned
	res.Messages, res.After = w.view(), w.size()
	rec.Before, rec.After = res.Before, res.After
	res.Record = &rec
	if limit := c.opts.Limit(); c.opts.Policy != A3S {
		res.Over = max(res.After.Tokens-limit, 0)
	}
}

// verifyView is [Verify] with known costs.
func verifyView(before, after *work) error {
	if after.cost() >= before.cost() {
		return errNotSmaller
	}
	return verifyContent(before.view(), after.view())
}

// Options returns the options with defaults filled in.
func (c *Compactor) Options() Options { return c.opts }
