package sqlite_test

import (
	"database/sql"
	"os"
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

func (f *fixture) voices(t *testing.T) (followed, listed []index.Speaker) {
	t.Helper()
	c := store.Collection{Namespace: f.ns, Kind: store.KindMemories}
	for _, e := range f.follow(t, c, 0).Add {
		followed = append(followed, e.Speaker)
	}
	err := f.Catalog(t.Context(), c, func(b index.Batch) error {
		for _, e := range b.Add {
			listed = append(listed, e.Speaker)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return followed, listed
}

// TestSpeakers go with their units: into the indexes, and out of the database. A
// database from before there were any has none.
func TestSpeakers(t *testing.T) {
	f := fresh(t)
	turn := ragctx.Turn{ID: "t", Messages: []ragctx.Message{
		{Role: ragctx.RoleUser, Name: "Ada", Content: ragctx.Text("I moved in May.")},
		ragctx.TextMessage(ragctx.RoleAssistant, "Where to?"),
	}}
	put := func(id string) {
		turn.ID = id
		m, units, voices, err := memory.Episode(turn)
		if err != nil {
			t.Fatal(err)
		}
		c := f.content(m.Content, units)
		for i, v := range voices {
			c.Chunks[i].Speaker = v
		}
		if _, _, _, err := f.PutTurn(t.Context(), f.ns, turn, m, c, false); err != nil {
			t.Fatal(err)
		}
	}
	put("t")
	want := []index.Speaker{{Role: "user", Name: "Ada", Timed: true}, {Role: "assistant"}}
	if followed, listed := f.voices(t); !slices.Equal(followed, want) || !slices.Equal(listed, want) {
		t.Errorf("followed %v, listed %v, want %v", followed, listed, want)
	}
	e, err := f.EraseMemory(t.Context(), f.ns, "t", "", true)
	if err != nil {
		t.Fatal(err)
	}
	f.scrub(t, e.Pending)
	if n := count(t, f.path, `SELECT count(*) FROM voices`); n != 0 {
		t.Errorf("%d voices are left of erased units", n)
	}

	put("u")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	older(t, f.path)
	f = open(t, f.path)
	if followed, listed := f.voices(t); !slices.Equal(followed, make([]index.Speaker, 2)) || !slices.Equal(listed, followed) {
		t.Errorf("followed %v, listed %v, want nobody's", followed, listed)
	}
}

// older makes a database one of before there were voices.
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
	if err := os.Remove(path + "-state"); err != nil { // there was none
		t.Fatal(err)
	}
}
