package view_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// TestBranch: branches equal those of the storage, including those of other leaves, and do not
// change.
func TestBranch(t *testing.T) {
	w := newWorld(t, view.Options{})
	said := w.say("one", "two", "three")
	first, err := w.Branch(t.Context(), key, "")
	w.must(err)
	w.must(navigate(w.storage, key, said[0].ID))
	other := w.say("another two")
	read := func(entries []session.Entry, err error) string {
		w.must(err)
		var messages []ragctx.Message
		for _, e := range entries {
			messages = append(messages, e.Message)
		}
		return texts(messages)
	}
	for name, tc := range map[string]struct{ got, want string }{
		"the leaf's":         {read(w.Branch(t.Context(), key, "")), "one|another two"},
		"another":            {read(w.Branch(t.Context(), key, said[2].ID)), "one|two|three"},
		"as it was":          {read(first, nil), "one|two|three"},
		"before the leaf":    {read(w.BranchBefore(t.Context(), key, other[0].ID)), "one"},
		"before one besides": {read(w.BranchBefore(t.Context(), key, said[2].ID)), "one|two"},
		"before the first":   {read(w.BranchBefore(t.Context(), key, said[0].ID)), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", name, tc.got, tc.want)
		}
	}
	if _, err := w.BranchBefore(t.Context(), key, "none"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("before nothing: %v", err)
	}
}

// The summarized messages of a buffer session are shown with raw, and not retained in memory
// afterwards.
func TestRawLeavesTheCostsOfTheBranch(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.setLayer(stage.LayerBuffer)
	for i := range 12 {
		w.append(talk(i*10, 10, 60)...)
		w.view(view.ViewOptions{})
	}
	shown, raw := len(w.compiled(view.CompileOptions{})), len(w.compiled(view.CompileOptions{Raw: true}))
	w.append(talk(1000, 1, 3)...)
	w.compiled(view.CompileOptions{})
	if priced, branch := view.Priced(w.Service, key); raw <= shown || priced != branch {
		t.Errorf("%d messages are shown, raw %d; of a branch of %d the costs of %d are known", shown, raw, branch, priced)
	}
}

// TestCompactingABranchThatEndsEarly: on a branch that ends before the instruction that was
// newest when it was compacted, the summary stands before messages that come before its
// range. A compaction of that view lasts as well.
func TestCompactingABranchThatEndsEarly(t *testing.T) {
	w := newWorld(t, view.Options{})
	steps := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("We decided on step %d of the plan, and wrote it down with all that speaks for it.", i)
		}
		return out
	}
	say := func(role ragctx.Role, texts ...string) (last string) {
		for _, text := range texts {
			m, _, err := w.Append(t.Context(), key, view.AppendOptions{}, ragctx.TextMessage(role, text))
			w.must(err)
			last = m[0].ID
		}
		return last
	}
	compact := func(first int) {
		t.Helper()
		out, err := w.Compact(t.Context(), key, view.CompactOptions{KeepFirst: first, KeepLast: 1, Window: 600})
		w.must(err)
		if out.Stored == nil {
			t.Fatal(out.Reason)
		}
		if got := texts(w.compiled(view.CompileOptions{})); got != texts(out.Messages) {
			t.Errorf("compacted to %s, shown is %s", texts(out.Messages), got)
		}
	}
	say(ragctx.RoleUser, "Please do all of it.")
	early := say(ragctx.RoleAssistant, steps(12)...)
	say(ragctx.RoleUser, "And now?")
	compact(5)
	w.must(navigate(w.storage, key, early))
	compact(-1)
	say(ragctx.RoleAssistant, steps(4)...)
	compact(-1)
}
