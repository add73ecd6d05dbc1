package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// TestNoSession: what is nowhere near a session is given up, not collected.
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
