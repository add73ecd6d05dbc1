package passage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// Request says what to make of a search's hits.
type Request struct {
	Query ragctx.ContextQuery
	// Search is the query that found the hits; its scope and times are checked
	// again here. State is that of the index when it found the hits.
	Search index.Query
	Hits   []index.Hit
	State  uint64
	// Terms are what was searched for beside the words of the query.
	Terms []string
	// Whole makes one item per text (a memory is a turn, whole), instead of one
	// per passage.
	Whole bool
}

// run is a row of touching units of one item.
type run struct {
	item  *Item
	units []Unit
	hits  []index.Hit // of the units, in their order
	best  index.Hit   // of hits, the one with the highest score
	more  []run       // further runs of the same item, in order (Whole only)
}

// Assembled is what [Assemble] makes of hits.
type Assembled struct {
	Items []ragctx.ContextItem
	// Distinct counts the items without the copies among them.
	Distinct int
	// More says that the hits hold further items.
	More bool
}

// Assemble returns the items for the request's hits, best first,
// Query.MaxResults different ones at most. Copies of an item's text come with
// it, so that whoever merges can say what was left out; they do not count, have no
// other forms, and there are at most as many of them. Hits that the store no longer
// shows are left out, and what is beyond 32 MiB of texts is not read.
func Assemble(ctx context.Context, src Source, r Request) (Assembled, error) {
	var a Assembled
	runs, err := join(ctx, src, r)
	if err != nil {
		return a, err
	}
	b := newBuilder(src, r, runs)
	seen := make(map[string]bool) // sections and texts that are shown
	copies := 0
	var made []run
	for _, run := range runs {
		it := b.base(run)
		if slices.Contains(r.Query.Exclude, it.ID) {
			continue
		}
		if a.Distinct == r.Query.MaxResults || b.spent() {
			a.More = true
			break
		}
		section := b.sectionName(run)
		if section != "" && seen[section] {
			continue // another passage of a section that is shown whole
		}
		if err := b.content(ctx, run, &it); gone(err) {
			continue
		} else if err != nil {
			return a, err
		}
		text := strings.Join(strings.Fields(it.Content), " ")
		switch {
		case !seen[text]:
			if err := b.forms(ctx, run, &it); gone(err) {
				continue
			} else if err != nil {
				return a, err
			}
			a.Distinct++
		case copies < r.Query.MaxResults:
			copies++
		default:
			continue
		}
		withoutPages(&it)
		seen[text], seen[section] = true, true
		a.Items, made = append(a.Items, it), append(made, run)
	}
	if r.Whole {
		err = b.surround(ctx, r, a.Items, made)
	}
	return a, err
}

// gone reports whether a text was not there any more: it was erased after its hit was
// looked up, which is nothing that the others should suffer from.
func gone(err error) bool { return errors.Is(err, ragctx.ErrNotFound) }

// Found is a hit together with what the store has of it.
type Found struct {
	index.Hit

	Unit Unit
	Item *Item
}

// Resolve loads what was hit, in the order of the hits, and leaves out what the
// store no longer has, the query may not see, or has not the search's phrases.
func Resolve(ctx context.Context, src Source, r Request) ([]Found, error) {
	ids := make([]uint64, len(r.Hits))
	for i, h := range r.Hits {
		ids[i] = h.ID
	}
	units, items, err := src.Units(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("load hits: %w", err)
	}
	byID := make(map[uint64]Unit, len(units))
	for _, u := range units {
		byID[u.ID] = u
	}
	found := make([]Found, 0, len(r.Hits))
	newest := make(map[string]int) // version found of each key
	for _, h := range r.Hits {
		u, ok := byID[h.ID]
		it := items[u.Item]
		if ok && it != nil && visible(it, &r) && holds(r.Search.Phrases, &u, it) {
			found = append(found, Found{Hit: h, Unit: u, Item: it})
			newest[it.Key] = max(newest[it.Key], it.Version)
		}
	}
	// Beside a version that was replaced while the index searched, the new one may
	// have been found.
	return slices.DeleteFunc(found, func(f Found) bool { return f.Item.Version < newest[f.Item.Key] }), nil
}

// join resolves the hits and joins what touches. Runs come out best first.
func join(ctx context.Context, src Source, r Request) ([]run, error) {
	found, err := Resolve(ctx, src, r)
	if err != nil {
		return nil, err
	}
	var runs []run
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Item.ID, b.Item.ID), cmp.Compare(a.Unit.Ordinal, b.Unit.Ordinal))
	})
	for _, f := range found {
		if last := len(runs) - 1; last >= 0 && runs[last].touches(f.Unit) {
			runs[last].add(f.Unit, f.Hit)
			continue
		}
		runs = append(runs, run{item: f.Item, units: []Unit{f.Unit}, hits: []index.Hit{f.Hit}, best: f.Hit})
	}
	if r.Whole {
		runs = gather(runs)
	} else {
		for i := range runs {
			runs[i].narrow()
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		// Not by the unit's id, which tells the order of writing.
		return cmp.Or(cmp.Compare(b.best.Score, a.best.Score), cmp.Compare(a.item.Key, b.item.Key),
			cmp.Compare(a.best.Ordinal, b.best.Ordinal))
	})
	return runs, nil
}

// touches reports whether u follows the run and fits into one overview with it.
func (r *run) touches(u Unit) bool {
	last := r.units[len(r.units)-1]
	return last.Item == u.Item && last.Ordinal+1 == u.Ordinal &&
		u.End.Rune-r.units[0].Start.Rune <= OverviewChars
}

func (r *run) add(u Unit, h index.Hit) {
	r.units, r.hits = append(r.units, u), append(r.hits, h)
	if h.Score > r.best.Score {
		r.best = h
	}
}

// strong is the share of the best score of a run that a unit at its end needs to stay. In a
// small text nearly every unit is found, and most of them because of their neighbours.
const strong = 0.7

// narrow takes weak units from both ends of the run. They are what it grows by first, when
// there is room.
func (r *run) narrow() {
	weak := func(h index.Hit) bool { return h.Score < strong*r.best.Score }
	first, last := 0, len(r.hits)-1
	for weak(r.hits[first]) {
		first++
	}
	for weak(r.hits[last]) {
		last--
	}
	r.units, r.hits = r.units[first:last+1], r.hits[first:last+1]
}

// nearest returns the unit that was hit best, as a run.
func (r *run) nearest() run {
	for _, part := range append([]run{*r}, r.more...) {
		for i, h := range part.hits {
			if h.ID == r.best.ID {
				return run{item: r.item, units: part.units[i : i+1], hits: part.hits[i : i+1], best: h}
			}
		}
	}
	return *r
}

// gather puts the runs of one item, which stand together, under the first.
func gather(runs []run) []run {
	var out []run
	for _, r := range runs {
		last := len(out) - 1
		if last < 0 || out[last].item != r.item {
			out = append(out, r)
			continue
		}
		out[last].more = append(out[last].more, r)
		if r.best.Score > out[last].best.Score {
			out[last].best = r.best
		}
	}
	return out
}
