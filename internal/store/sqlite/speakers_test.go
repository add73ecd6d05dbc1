package sqlite_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// TestSpeakers checks that the speakers of erased chunks are deleted, and that chunks from before there were
// speakers have none.
func TestSpeakers(t *testing.T) {
	f := fresh(t)
	put := func(id string) {
		m, chunks, speakers, err := memory.Episode(ragctx.Turn{ID: id, Messages: []ragctx.Message{
			{Role: ragctx.RoleUser, Name: "Ada", Content: ragctx.Text("I moved in May.")},
			ragctx.TextMessage(ragctx.RoleAssistant, "Where to?"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		c := f.content(m.Content, chunks)
		for i, s := range speakers {
			c.Chunks[i].Speaker = s
		}
		if _, _, _, err := f.PutTurn(t.Context(), f.ns, ragctx.Turn{ID: id}, m, c, false); err != nil {
			t.Fatal(err)
		}
	}
	put("t")
	if n := count(t, f.path, `SELECT count(*) FROM voices`); n != 2 {
		t.Errorf("%d speakers of two chunks", n)
	}
	e, err := f.EraseMemory(t.Context(), f.ns, "t", "", true)
	if err != nil {
		t.Fatal(err)
	}
	f.scrub(t, e.Pending)
	if n := count(t, f.path, `SELECT count(*) FROM voices`); n != 0 {
		t.Errorf("%d speakers are left of erased chunks", n)
	}

	put("u")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	older(t, f.path)
	f = open(t, f.path)
	followed := f.follow(t, store.Collection{Namespace: f.ns, Kind: store.KindMemories}, 0).Add
	for _, c := range followed {
		if c.Speaker != (index.Speaker{}) {
			t.Errorf("chunk %d has the speaker %+v", c.ID, c.Speaker)
		}
	}
	if len(followed) != 2 {
		t.Errorf("%d chunks", len(followed))
	}
}

// older turns a database into one from before there were speakers.
func older(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+escape(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `DROP TRIGGER items_come; DROP TRIGGER items_return; DROP TRIGGER items_end; DROP TRIGGER items_go; DROP TRIGGER changes_erased; DROP TRIGGER turns_erased; DROP TRIGGER history_erased;
		DROP TRIGGER sessions_come; DROP TRIGGER sessions_grow; DROP TRIGGER sessions_go; DROP TRIGGER quarantine_erased; DROP TRIGGER procedures_erased; DROP TRIGGER ledgers_erased; DROP TRIGGER session_providers_erased; DROP TRIGGER sessions_of_erased;
		ALTER TABLE namespaces DROP COLUMN erased; ALTER TABLE namespaces DROP COLUMN documents; ALTER TABLE namespaces DROP COLUMN memories; ALTER TABLE namespaces DROP COLUMN bytes;
		ALTER TABLE namespaces DROP COLUMN max_documents; ALTER TABLE namespaces DROP COLUMN max_memories; ALTER TABLE namespaces DROP COLUMN max_bytes;
		DROP TABLE session_ancestors; DROP TABLE session_notes; DROP TABLE session_compactions; DROP TABLE session_messages; DROP TABLE session_sections; DROP TABLE sessions;
		DROP TABLE session_providers; DROP TABLE audit; DROP TABLE keys; DROP TABLE ledger_messages; DROP TABLE ledgers; DROP TABLE voices; DROP TABLE facts; DROP TABLE provenance; DROP TABLE history; DROP TABLE quarantine;
		DROP TABLE sums; DROP INDEX job_items_key; CREATE INDEX job_items_open ON job_items (key) WHERE state IN ('pending', 'failed'); DROP TABLE uses; DROP TABLE untold; DROP TABLE procedure_history; DROP TABLE procedure_sources; DROP TABLE procedure_bodies;
		DROP TABLE procedures; DROP INDEX items_working; DROP INDEX items_expires; DROP INDEX items_text; DROP INDEX items_text_of;
		ALTER TABLE items DROP COLUMN text_hash; ALTER TABLE items DROP COLUMN text_of; ALTER TABLE items DROP COLUMN sketch;
		ALTER TABLE items DROP COLUMN stat;
		ALTER TABLE units DROP COLUMN page; PRAGMA user_version = 4`); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + "-state"); err != nil { // older versions had none
		t.Fatal(err)
	}
}
