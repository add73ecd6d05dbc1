package imports

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

// TestLangChainOnPostgres reads the tables of both packages that have a PGVector. Their vectors are texts here, as the server
// needs an extension for them otherwise.
func TestLangChainOnPostgres(t *testing.T) {
	server := pgtest.Start(t, false)
	const collections = `CREATE TABLE langchain_pg_collection (uuid uuid PRIMARY KEY, name text, cmetadata json);
		INSERT INTO langchain_pg_collection VALUES ('00000000-0000-0000-0000-000000000001', 'handbook', NULL);`
	for name, tables := range map[string]string{
		"langchain-postgres": `CREATE TABLE langchain_pg_embedding (id varchar PRIMARY KEY, collection_id uuid, embedding text,
				document varchar, cmetadata jsonb);
			INSERT INTO langchain_pg_embedding VALUES
				('b', '00000000-0000-0000-0000-000000000001', '[1,2]', 'Staging listens on 8443.',
					'{"source": "ports.md", "title": "Ports", "page": 3, "n": 12345678901234567890}'),
				('a', '00000000-0000-0000-0000-000000000001', '[1,2]', NULL, NULL)`,
		"langchain-community": `CREATE TABLE langchain_pg_embedding (uuid uuid PRIMARY KEY, collection_id uuid, embedding text,
				document varchar, cmetadata json, custom_id varchar);
			INSERT INTO langchain_pg_embedding VALUES
				('00000000-0000-0000-0000-00000000000b', '00000000-0000-0000-0000-000000000001', '[1,2]', 'Staging listens on 8443.',
					'{"source": "ports.md", "title": "Ports", "page": 3, "n": 12345678901234567890}', 'b'),
				('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000001', '[1,2]', NULL, NULL, 'a')`,
	} {
		url := server.Database(t, name)
		db, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), collections+tables); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		source := strings.Replace(url, "postgres://", "postgresql+psycopg://", 1)
		var items []Item
		emit := func(i Item) error {
			items = append(items, i)
			return nil
		}
		if err := langChain(t.Context(), source, emit); err != nil {
			t.Fatal(err)
		}
		want := []Item{{Name: "handbook/a", LeftOut: "records without a text"}, {Name: "handbook/b", Document: &ragctx.Document{
			ExternalID: "langchain/handbook/b", Title: "Ports", Source: "ports.md", Text: "Staging listens on 8443.",
			Metadata: map[string]any{"page": 3., "n": json.Number("12345678901234567890")},
		}}}
		if d := cmp.Diff(want, items); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		stop := errors.New("stop")
		if err := langChain(t.Context(), source, func(Item) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: the receiver's error became %v", name, err)
		}
	}
	if got := read(t, "langchain-pg", server.Database(t, "empty")); !strings.Contains(got, "empty has no tables of LangChain's PGVector") {
		t.Error(got)
	}
}

// TestLangChainURL checks that an error does not quote the password.
func TestLangChainURL(t *testing.T) {
	got := read(t, "langchain-pg", "postgres://me:hunter2@host:port/db")
	if !strings.Contains(got, "source: is no URL of a database") || strings.Contains(got, "hunter2") {
		t.Error(got)
	}
}
