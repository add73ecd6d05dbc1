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

// Limits of the neighbours shown with an item: the number on either side, and the size in
// characters, which is one overview, or several at full depth. Forms with fewer neighbours are
// offered as well.
const (
	MaxNeighbors  = 4
	fullOverviews = 3
	bytesPerToken = 6
)

var aroundSteps = [...]int{2 * MaxNeighbors, 4, 2}

// shown is an item of the answer and its run.
type shown struct {
	run  run
	item *ragctx.ContextItem
}

// turn is an item of a conversation with its text from the store.
type turn struct {
	*Item

	text string
}

// findWhole finds the items of conversations that are shown whole, which may get neighbours.
func (a *Assembled) findWhole() {
	r := &a.request
	if !r.Whole || r.Query.Depth == ragctx.DepthAbstract || r.Search.Time != nil && r.Search.Time.List {
		return // a query that lists a time range gets all its items anyway
	}
	for i := range a.Items {
		it := &a.Items[i]
		if run := a.runs[it.ID]; run.item.Session != "" && longestText(it) >= run.item.Bytes {
			a.whole = append(a.whole, shown{run, it})
		}
	}
}

// Among returns the chunks whose neighbours [Assembled.Surround] can show.
func (a *Assembled) Among() []uint64 {
	chunks := make([]uint64, len(a.whole))
	for i, s := range a.whole {
		chunks[i] = s.run.best.ID
	}
	return chunks
}

// Surround adds forms that show items among their neighbours: other items of the same session, in
// order. around has the neighbours of the chunks that Among returns, at most [MaxNeighbors] on either
// side. Surround takes only neighbours that the query may see, that the answer does not show, and
// that no earlier item includes. The texts are read from the store.
func (a *Assembled) Surround(ctx context.Context, around []index.Neighbors) error {
	b, r, source, items := a.builder, a.request, a.builder.src, a.whole
	taken := make(map[string]bool)
	for _, id := range b.query.Exclude {
		taken[id] = true
	}
	for _, it := range a.Items {
		taken[it.ID] = true
	}
	known, err := loadNeighbors(ctx, source, r, around)
	if err != nil {
		return err
	}
	room := bytesPerToken * b.query.MaxTokens // for all of them: a token is hardly ever longer
	chosen := make([][]*Item, len(items))
	var ids []uint64
	for i, s := range items {
		chosen[i] = choose(s, around[i], known, taken, min(b.maxSurrounded(), room)-s.run.item.Bytes)
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
		s.addForms(chosen[i], texts)
	}
	return nil
}

// maxSurrounded returns the maximum size of an item and its neighbours in bytes.
func (b *builder) maxSurrounded() int {
	if b.query.Depth == ragctx.DepthFull {
		return fullOverviews * OverviewChars
	}
	return OverviewChars
}

// longestText returns the length of an item's longest text.
func longestText(it *ragctx.ContextItem) int { return max(len(it.Content), len(it.Forms.Wider.Text)) }

// loadNeighbors loads the neighbours that the query may see.
func loadNeighbors(ctx context.Context, source Source, r Request, around []index.Neighbors) (map[uint64]*Item, error) {
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

// addForms adds the forms of an item among its neighbours.
func (s shown) addForms(others []*Item, texts map[uint64]string) {
	var turns []turn
	for _, it := range others {
		if text, ok := texts[it.ID]; ok { // not erased in the meantime
			turns = append(turns, turn{it, text})
		}
	}
	own := turn{s.run.item, s.item.Content}
	if w := s.item.Forms.Wider.Text; len(w) > len(own.text) {
		own.text = w
	}
	for i, step := range aroundSteps {
		if len(turns) > 0 && (i == 0 || step < len(turns)) {
			s.item.Forms.Around = append(s.item.Forms.Around, transcript(own, turns[:min(step, len(turns))]))
		}
	}
}

// choose takes following and preceding items alternately. A side ends at the first item that is too
// long, belongs to another conversation, or is shown elsewhere.
func choose(s shown, a index.Neighbors, known map[uint64]*Item, taken map[string]bool, room int) (chosen []*Item) {
	sides := [...][]uint64{a.After, a.Before}
	for len(sides[0])+len(sides[1]) > 0 {
		for i, side := range sides {
			if len(side) == 0 {
				continue
			}
			it := known[side[0]]
			if it == nil || taken[it.Key] || it.Bytes+len(dateLine(time.Time{})) > room || !sameConversation(it, s.run.item) {
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

// sameConversation reports whether two items belong to one conversation.
func sameConversation(a, b *Item) bool {
	return a.Namespace == b.Namespace && a.Type == b.Type && a.User == b.User && a.Agent == b.Agent && a.Session == b.Session
}

// transcript writes an item and its neighbours in the order of time. A date line precedes an item
// of another day than the one before. The first item is compared with the day of the main item.
func transcript(of turn, others []turn) ragctx.Form {
	all := slices.SortedFunc(slices.Values(append(slices.Clone(others), of)), func(x, y turn) int {
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
