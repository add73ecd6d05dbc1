package passage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// Conversation is a [Source] that knows what was said around a memory.
type Conversation interface {
	// Around returns what a search may see around units that it found in a state, at
	// most n items on either side; see [index.Hybrid.Around].
	Around(ctx context.Context, q ragctx.ContextQuery, s index.Query, state uint64, units []uint64, n int) ([]index.Neighbors, error)
	// Items returns items that still exist, by id.
	Items(ctx context.Context, ids []uint64) (map[uint64]*Item, error)
	// Texts returns the texts of items by item, of long ones the beginnings.
	Texts(ctx context.Context, items []uint64) (map[uint64]string, error)
}

// How far an item goes among what was said around it: so many items on either
// side, and in characters as much as an overview, or several of them where whole
// texts are asked for. Smaller steps are offered, too.
const (
	surroundings  = 4
	fullOverviews = 3
	bytesPerToken = 6
)

var aroundSteps = [...]int{2 * surroundings, 4, 2}

// shown is an item of an answer and what it was made of.
type shown struct {
	run  run
	item *ragctx.ContextItem
}

// spoken is an item of a conversation, as the store has it.
type spoken struct {
	*Item

	text string
}

// surround adds to items the forms that show them among what was said around them:
// other items of their session, in order, that the query may see, that the answer
// does not show, and that none of the items before has. The texts are the store's.
func (b *builder) surround(ctx context.Context, r Request, made []ragctx.ContextItem, of []run) error {
	source, ok := b.src.(Conversation)
	if !ok || b.query.Depth == ragctx.DepthAbstract || r.Search.Time != nil && r.Search.Time.List {
		return nil // the last asked for what is of a time, and has all of it
	}
	taken := make(map[string]bool)
	for _, id := range b.query.Exclude {
		taken[id] = true
	}
	var items []shown
	for i, run := range of {
		taken[made[i].ID] = true
		if run.item.Session != "" && longest(&made[i]) >= run.item.Bytes {
			items = append(items, shown{run, &made[i]})
		}
	}
	if len(items) == 0 {
		return nil
	}
	units := make([]uint64, len(items))
	for i, s := range items {
		units[i] = s.run.best.ID
	}
	around, err := source.Around(ctx, r.Query, r.Search, r.State, units, surroundings)
	if err != nil {
		return fmt.Errorf("look around hits: %w", err)
	}
	known, err := loadAround(ctx, source, r, around)
	if err != nil {
		return err
	}
	room := bytesPerToken * b.query.MaxTokens // of all of them: no budget holds much more
	chosen := make([][]*Item, len(items))
	var ids []uint64
	for i, s := range items {
		chosen[i] = choose(s, around[i], known, taken, min(b.widest(), room)-s.run.item.Bytes)
		for _, it := range chosen[i] {
			taken[it.Key] = true
			ids = append(ids, it.ID)
			room -= it.Bytes
		}
	}
	texts, err := source.Texts(ctx, ids)
	if err != nil {
		return fmt.Errorf("read around hits: %w", err)
	}
	for i, s := range items {
		s.among(chosen[i], texts)
	}
	return nil
}

// widest is how many bytes an item and those around it have at most.
func (b *builder) widest() int {
	if b.query.Depth == ragctx.DepthFull {
		return fullOverviews * OverviewChars
	}
	return OverviewChars
}

// longest is the length of an item's longest text.
func longest(it *ragctx.ContextItem) int { return max(len(it.Content), len(it.Forms.Wider.Text)) }

// loadAround loads items, those that the query may see.
func loadAround(ctx context.Context, source Conversation, r Request, around []index.Neighbors) (map[uint64]*Item, error) {
	var ids []uint64
	for _, a := range around {
		ids = append(append(ids, a.Before...), a.After...)
	}
	slices.Sort(ids)
	known, err := source.Items(ctx, slices.Compact(ids))
	if err != nil {
		return nil, fmt.Errorf("load around hits: %w", err)
	}
	maps.DeleteFunc(known, func(_ uint64, it *Item) bool {
		return !it.Superseded.IsZero() && r.Search.AsOf.IsZero() || !visible(it, &r)
	})
	return known, nil
}

// among gives an item its forms among others.
func (s shown) among(others []*Item, texts map[uint64]string) {
	var turns []spoken
	for _, it := range others {
		if text, ok := texts[it.ID]; ok { // not erased meanwhile
			turns = append(turns, spoken{it, text})
		}
	}
	own := spoken{s.run.item, s.item.Content}
	if w := s.item.Forms.Wider.Text; len(w) > len(own.text) {
		own.text = w
	}
	for i, step := range aroundSteps {
		if len(turns) > 0 && (i == 0 || step < len(turns)) {
			s.item.Forms.Around = append(s.item.Forms.Around, conversation(own, turns[:min(step, len(turns))]))
		}
	}
}

// choose takes what follows and what precedes in turns, as long as it is near: up
// to what is too long, or somebody else's, or shown elsewhere.
func choose(s shown, a index.Neighbors, known map[uint64]*Item, taken map[string]bool, room int) (chosen []*Item) {
	sides := [...][]uint64{a.After, a.Before}
	for len(sides[0])+len(sides[1]) > 0 {
		for i, side := range sides {
			if len(side) == 0 {
				continue
			}
			it := known[side[0]]
			if it == nil || taken[it.Key] || it.Bytes+len(dateLine(time.Time{})) > room || !together(it, s.run.item) {
				sides[i] = nil
				continue
			}
			sides[i] = side[1:]
			chosen = append(chosen, it)
			room -= it.Bytes + len(dateLine(time.Time{}))
		}
	}
	return chosen
}

// together reports whether two items are of one conversation.
func together(a, b *Item) bool {
	return a.Namespace == b.Namespace && a.Type == b.Type && a.User == b.User && a.Agent == b.Agent && a.Session == b.Session
}

// conversation writes an item and others in the order of time. Where the day is not
// that of what stands before, or at the beginning not that of the item, a line says
// so.
func conversation(of spoken, others []spoken) ragctx.Form {
	all := slices.SortedFunc(slices.Values(append(slices.Clone(others), of)), func(x, y spoken) int {
		return cmp.Or(x.Occurred.Compare(y.Occurred), cmp.Compare(x.ID, y.ID))
	})
	var text strings.Builder
	date := dateLine(of.Occurred)
	f := ragctx.Form{}
	for i, s := range all {
		if i > 0 {
			text.WriteByte('\n')
		}
		if d := dateLine(s.Occurred); d != date {
			text.WriteString(d)
			date = d
		}
		text.WriteString(s.text)
		if s.Item != of.Item {
			f.Includes = append(f.Includes, s.Key)
		}
	}
	f.Text = strings.ReplaceAll(text.String(), "\f", "\n") // as in all texts of items
	return f
}

func dateLine(t time.Time) string { return "[" + t.UTC().Format(time.DateOnly) + "]\n" }
