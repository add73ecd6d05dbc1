package main

import (
	"strings"
	"testing"
)

// TestExitStatus: a command whose item does not exist fails, and says so.
func TestExitStatus(t *testing.T) {
	home := t.TempDir()
	write(t, home, map[string]string{"a.md": "# A\n"})
	if r := ragctxIn(t.Context(), t, home, "", "ingest", "a.md"); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	for line := range strings.Lines(`
docs show none
docs delete none
memory show none
memory history none
memory delete none
memory delete --erase none
memory undo none
memory undo --turn none
memory release none
memory tag none x
procedures show none
procedures publish none
procedures unpublish none
procedures rollback none 1
procedures preview none
procedures delete none
procedures delete none --erase
sessions show none
sessions append none hello
sessions messages none
sessions compile none
sessions assemble none
sessions compact none
sessions undo none
sessions export none
sessions delete none --erase
ledger tail none
ledger state none
ledger export none
ledger delete none --erase
jobs show none
jobs watch none
jobs cancel none
jobs retry none
keys revoke none
namespaces delete none --erase
memory import none.ndjson
restore none.ragctx --data none
ingest none.md
query --docs none.md x
api GET /v1/documents/none
`) {
		args := strings.Fields(line)
		if len(args) == 0 {
			continue
		}
		r := ragctxIn(t.Context(), t, home, "", args...)
		if r.code != exitFailed || !strings.HasPrefix(r.stderr, "ragctx: ") || r.stdout != "" {
			t.Errorf("%s: exit status %d, %q, %q", strings.TrimSpace(line), r.code, r.stdout, r.stderr)
		}
	}
}
