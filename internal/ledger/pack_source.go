package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// source returns the candidate of a source of the strategy. A read error goes to the assembly's
// err.
func (a *assembly) source(ctx context.Context, i int) budget.Candidate {
	src := a.Strategy.Sources[i]
	name := src.Topic
	if src.Kind != FromMessages {
		name = string(src.Kind)
	}
	r := &a.reports[i]
	*r = SourceReport{ID: fmt.Sprintf("source:%s:%d", name, i), Kind: src.Kind, Topic: src.Topic, Stored: -1, InRange: -1}
	if since := src.Since.lowerBound(a.Times); since != 0 {
		r.Since = time.UnixMilli(since).UTC()
	}
	show := a.messages
	if src.Kind != FromMessages {
		show = a.retrieved
	}
	variant := func(name string, compact bool, r *SourceReport) budget.Variant {
		return budget.Variant{Name: name, Text: func() string {
			text, err := show(ctx, src, compact, r)
			a.err = cmp.Or(a.err, err)
			return text
		}}
	}
	return budget.Candidate{
		ID: r.ID, Section: "sources", Priority: src.Rank(),
		Variants: []budget.Variant{variant("full", false, r), variant("compact", true, &SourceReport{})},
	}
}

// messages renders the selected messages and fills in the report.
func (a *assembly) messages(ctx context.Context, src Source, compact bool, r *SourceReport) (string, error) {
	q := a.query()
	q.Sender, q.Since, q.AfterSeq = src.Sender, src.Since.lowerBound(a.Times), a.After
	if !src.isPrefix() {
		q.Topics = []string{src.Topic}
	}
	found, err := a.read(ctx, q, src, src.selection(compact), r)
	if err != nil {
		return "", fmt.Errorf("source %s: %w", ragctx.Clip(src.Topic), err)
	}
	r.Selected = len(found)
	if !compact && (r.Selected == 0 || a.Explain) {
		if err := a.count(ctx, q, src, r); err != nil {
			return "", err
		}
	}
	return renderMessages(src.Topic, found), nil
}

// sourceBytes bounds the bytes of one source's messages. It exceeds what a context can show, whose
// characters have at most three bytes. The messages of all sources are in memory together.
// sourcePage is the number of messages read at a time.
const (
	sourceBytes = 2 << 20
	sourcePage  = 1000
)

// read returns the selected messages, oldest first. The amount counts replayable messages other
// than the trigger.
func (a *assembly) read(ctx context.Context, q Query, src Source, t selection, r *SourceReport) ([]Message, error) {
	if a.through == 0 {
		return nil, nil
	}
	q.Newest, q.MaxBytes, q.Limit = t.choice == Latest, sourceBytes, sourcePage
	if t.amount > 0 {
		q.Limit = min(t.amount+16, sourcePage)
	}
	var found []Message
	looked, bytes := 0, 0
	for {
		page, err := a.Log.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			switch {
			case !src.matches(m.Topic), a.isTrigger(m):
				continue
			case !Replayable(m):
				r.Withheld++
				continue
			}
			found = append(found, m)
			if bytes += m.Size(); len(found) == t.amount || bytes > sourceBytes {
				r.Capped = len(found) != t.amount
				return inOrder(found, q.Newest), nil
			}
		}
		looked += len(page)
		if len(page) < q.Limit && size(page) < q.MaxBytes {
			return inOrder(found, q.Newest), nil
		}
		if r.Capped = looked >= MaxSourceMessages; r.Capped {
			return inOrder(found, q.Newest), nil
		}
		last := page[len(page)-1].Sequence
		if q.Newest {
			q.ThroughSeq = last - 1
			if q.ThroughSeq == 0 {
				return inOrder(found, q.Newest), nil
			}
		} else {
			q.AfterSeq = last
		}
	}
}

func size(messages []Message) (n int) {
	for _, m := range messages {
		n += m.Size()
	}
	return n
}

func inOrder(m []Message, reversed bool) []Message {
	if reversed {
		slices.Reverse(m)
	}
	return m
}

// count fills in the report's message counts and the reason for an empty selection.
func (a *assembly) count(ctx context.Context, q Query, src Source, r *SourceReport) error {
	q.Newest, q.Limit, q.MaxBytes = false, 0, 0
	r.Stored, r.InRange = 0, 0
	if a.through > 0 {
		var err error
		if r.InRange, err = a.Log.Count(ctx, q); err != nil {
			return err
		}
		q.Since, q.AfterSeq = 0, 0
		if r.Stored, err = a.Log.Count(ctx, q); err != nil {
			return err
		}
	}
	if r.Selected > 0 {
		return nil
	}
	of := "topic " + ragctx.Clip(src.Topic)
	if src.Sender != "" {
		of += " from " + ragctx.Clip(src.Sender)
	}
	switch {
	case a.through == 0:
		r.Reason = "the cluster has no messages"
	case r.Stored == 0:
		r.Reason = "the cluster has no message of " + of
	case r.InRange == 0 && a.After > 0:
		r.Reason = fmt.Sprintf("%d of %s, none after sequence %d", r.Stored, of, a.After)
	case r.InRange == 0:
		r.Reason = fmt.Sprintf("%d of %s, none since %s", r.Stored, of, isoTime(r.Since.UnixMilli()))
	case r.Withheld > 0:
		r.Reason = fmt.Sprintf("%d of %s, %d of them must not be shown again", r.InRange, of, r.Withheld)
	default:
		r.Reason = fmt.Sprintf("%d of %s, only the triggering message", r.InRange, of)
		if src.isPrefix() {
			r.Reason = fmt.Sprintf("none of %d messages has %s", r.InRange, of)
		}
	}
	return nil
}

// retrieved renders documents or memories and fills in the report.
func (a *assembly) retrieved(ctx context.Context, src Source, compact bool, r *SourceReport) (string, error) {
	if a.Retrieve == nil {
		return "", ragctx.Invalid("sources", "of documents and memories need an engine; this builder has only messages")
	}
	q := ragctx.ContextQuery{
		Query:     cmp.Or(src.Query, clipText(a.Trigger.Text, ragctx.MaxQueryBytes)),
		Namespace: a.Namespace, UserID: a.UserID, MaxResults: src.selection(compact).amount,
	}.WithTypes(ragctx.TypeResource)
	if src.Kind == FromMemories {
		q = q.WithTypes(ragctx.TypeMemory)
	}
	if since := src.Since.lowerBound(a.Times); since > 0 {
		q.Filter.OccurredAfter = time.UnixMilli(since).UTC()
	}
	if compact {
		q.Depth = ragctx.DepthAbstract
	}
	got, err := a.Retrieve(ctx, q.WithDefaults())
	if err != nil {
		return "", fmt.Errorf("source %s: %w", src.Kind, err)
	}
	r.Selected, r.Stored, r.InRange = got.Items, -1, -1
	if got.Items == 0 {
		r.Reason = cmp.Or(got.Note, "nothing was found")
		return "", nil
	}
	return renderRetrieved(src.Kind, got.Text), nil
}
