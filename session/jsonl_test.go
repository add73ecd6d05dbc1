package session_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// TestNoSession: input that is no session is rejected early, not collected.
func TestNoSession(t *testing.T) {
	head := `{"type":"session","version":1,"id":"s"}` + "\n"
	if _, bad, err := session.ReadJSONL(strings.NewReader(head + strings.Repeat("x\n", 10_000))); err != nil || len(bad) != 10_000 {
		t.Errorf("%d lines, %v", len(bad), err)
	}
	for name, text := range map[string]string{
		"damaged": strings.Repeat("x\n", 10_002),
		"empty":   strings.Repeat("\n", 1_000_001),
	} {
		if _, _, err := session.ReadJSONL(strings.NewReader(head + text)); !errors.Is(err, ragctx.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSectionsOfAHeader: an invalid section name is reported and ignored.
func TestSectionsOfAHeader(t *testing.T) {
	long := strings.Repeat("x", session.MaxName+1)
	a, bad, err := session.ReadJSONL(strings.NewReader(`{"type":"session","version":1,"id":"s","sections":["a","` + long + `","b"],"parameters":{"p":1}}`))
	if err != nil || len(bad) != 1 || bad[0].Line != 1 || !strings.Contains(bad[0].Reason, "has 513 bytes") {
		t.Errorf("%+v, %v", bad, err)
	}
	if len(a.Sections) != 2 || a.Sections[0] != "a" || a.Sections[1] != "b" || a.Parameters["p"] == nil || a.Validate() != nil {
		t.Errorf("%+v", a)
	}
}

// TestManySections: to find a section costs the same however many there are.
func TestManySections(t *testing.T) {
	var a session.Archive
	for i := range 100_000 {
		a.Sections = append(a.Sections, strconv.Itoa(i))
		a.Entries = append(a.Entries, session.Entry{Section: strconv.Itoa(i ^ 1), Message: ragctx.Message{ID: strconv.Itoa(i)}})
	}
	if s := a.Store(); len(s.Names()) != 100_000 || s.Section("7").Messages[0].ID != "6" {
		t.Errorf("%d sections, %+v", len(s.Names()), s.Section("7"))
	}
	if _, err := a.CheckSize(); !errors.Is(err, ragctx.ErrTooLarge) {
		t.Errorf("checked: %v", err)
	}
}
