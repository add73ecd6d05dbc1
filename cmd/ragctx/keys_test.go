package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFirstAndLastKey says that the first key shuts servers, and that without the last one
// they are open again.
func TestFirstAndLastKey(t *testing.T) {
	home := t.TempDir()
	run := func(says string, args ...string) string {
		t.Helper()
		r := ragctxIn(t.Context(), t, home, "", args...)
		if r.code != exitOK || says == "" && strings.Contains(r.stderr, "server") || !strings.Contains(r.stderr, says) {
			t.Errorf("%q: exit %d, %q, want %q", args, r.code, r.stderr, says)
		}
		var k struct{ ID string }
		_ = json.Unmarshal([]byte(r.stdout), &k)
		return k.ID
	}
	first := run("it is the first", "keys", "create", "a", "--role", "admin", "--json")
	second := run("", "keys", "create", "b", "--role", "admin", "--json")
	run("", "keys", "revoke", first)
	run("no keys are left", "keys", "revoke", second)
}
