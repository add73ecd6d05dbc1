package eval

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxReasons bounds the reasons of a report, maxReasonIDs the ids listed with each.
const (
	maxReasons   = 20
	maxReasonIDs = 5
)

// otherReasons replaces the reasons after the first [maxReasons].
const otherReasons = "other reasons"

// Reasons counts rejected or faulty entries by reason.
type Reasons []Reason

// Reason is one reason and its entries.
type Reason struct {
	Why   string `json:"reason"`
	Count int    `json:"count"`
	// IDs are the first entries' ids. Such is the faulty value of the first one, or "".
	IDs  []string `json:"ids"`
	Such string   `json:"such_as,omitempty"`
}

// add counts an entry.
func (r *Reasons) add(why, id, such string) {
	at := func(why string) int { return slices.IndexFunc(*r, func(x Reason) bool { return x.Why == why }) }
	i := at(why)
	if i < 0 && len(*r) >= maxReasons {
		why, such = otherReasons, ""
		i = at(why)
	}
	if i < 0 {
		*r, i = append(*r, Reason{Why: why, Such: such}), len(*r)
	}
	x := &(*r)[i]
	x.Count++
	if len(x.IDs) < maxReasonIDs {
		x.IDs = append(x.IDs, id)
	}
}

// most returns the reasons, most frequent first.
func (r Reasons) most() Reasons {
	return slices.SortedStableFunc(slices.Values(r), func(a, b Reason) int { return cmp.Compare(b.Count, a.Count) })
}

// write writes one line per reason.
func (r Reasons) write(w io.Writer) {
	for _, x := range r.most() {
		such, more := "", ""
		if x.Such != "" {
			such = fmt.Sprintf("%q ", x.Such)
		}
		if n := x.Count - len(x.IDs); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(w, "  %d: %s%s: %s%s\n", x.Count, such, x.Why, strings.Join(x.IDs, ", "), more)
	}
}
