package conversation_test

import (
	"errors"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/conversation"
	"github.com/ragctx/ragctx/session"
)

// TestBranch: branches are what the storage has, also those that are not the leaf's, and
// stay what they were.
func TestBranch(t *testing.T) {
	w := newWorld(t, conversation.Options{})
	said := w.say("one", "two", "three")
	first, err := w.Branch(t.Context(), key, "")
	w.must(err)
	w.must(w.storage.Navigate(t.Context(), key, said[0].ID))
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
