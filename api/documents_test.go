package api

import (
	"net/url"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// TestIDs checks that every id names its own document, whichever way it is
// escaped.
func TestIDs(t *testing.T) {
	f := start(t, Options{})
	ids := []string{
		"a", "docs/a.md", "docs%2Fa.md", "a//b", "/a", "a/", "//", ".", "..", "../../etc/passwd", "a/./b", "a/../b",
		"https://x.example/y?z=1&w=2#frag", "C:\\dir\\f.txt", "a b", "a+b", "a%20b", "%", "100%", "a?b", "a#b", "a;b", "a@1#0",
		"search", ":id", "{id}", "*", "ünïcödé", "日本語/文書", "😀", "e\u0301", "\n", "\u202e", strings.Repeat("x", 512), strings.Repeat("/", 512),
	}
	for _, id := range ids {
		target := "/v1/documents/" + url.PathEscape(id)
		put := into[documentPut](t, f.call(t, "PUT", target, `{"text":"one"}`), 201)
		if put.ID != id || put.Version != 1 || put.Chunks != 1 || put.Status != store.Created {
			t.Errorf("%q: %+v", id, put)
		}
		d := into[Document](t, f.call(t, "GET", target+"?chunks=true", ""), 200)
		if d.ID != id || *d.Text != "one" {
			t.Errorf("%q came back as %q", id, d.ID)
		}
		item := into[Item](t, f.call(t, "GET", "/v1/items/"+url.PathEscape(d.ChunkList[0].ID), ""), 200)
		if item.Document != id || item.Text != "one" || item.ID != d.ChunkList[0].ID {
			t.Errorf("citation of %q: %+v", id, item)
		}
		got, err := f.client.Document(t.Context(), "", id, 0)
		if err != nil || got.ID != id {
			t.Errorf("client: %q came back as %q, %v", id, got.ID, err)
		}
	}
	if page := into[documentPage](t, f.call(t, "GET", "/v1/documents?limit=1000", ""), 200); len(page.Documents) != len(ids) {
		t.Errorf("%d documents, want %d", len(page.Documents), len(ids))
	}
	for _, target := range []string{"docs/a.md", "docs%2Fa.md", "docs%2fa.md", "%64ocs/a.md"} {
		if d := into[Document](t, f.call(t, "GET", "/v1/documents/"+target, ""), 200); d.ID != "docs/a.md" {
			t.Errorf("%s is %q", target, d.ID)
		}
	}
	for _, id := range ids {
		if err := f.client.DeleteDocument(t.Context(), "", id); err != nil {
			t.Errorf("delete %q: %v", id, err)
		}
	}
	if found, err := f.client.ListDocuments(t.Context(), "", store.ListOptions{}); err != nil || len(found) > 0 {
		t.Errorf("%d documents left, %v", len(found), err)
	}
}

func TestDocumentLifecycle(t *testing.T) {
	f := start(t, Options{})
	const target = "/v1/documents/a.md?namespace=n"
	body := `{"text":"# Ports\n\nStaging listens on 8443.","tags":["ops"],"metadata":{"team":"sre"},"source":"file:a.md","occurred":"2026-01-02T03:04:05Z"}`
	into[documentPut](t, f.call(t, "PUT", target, body), 201)
	if put := into[documentPut](t, f.call(t, "PUT", target, body), 200); put.Status != store.Unchanged || put.Version != 1 {
		t.Errorf("again: %+v", put)
	}
	if put := into[documentPut](t, f.call(t, "PUT", target, `{"text":"Staging listens on 9443."}`), 200); put.Status != store.Replaced || put.Version != 2 {
		t.Errorf("replaced: %+v", put)
	}
	first := into[Document](t, f.call(t, "GET", target+"&version=1&chunks=true", ""), 200)
	if first.Title != "Ports" || first.Metadata["team"] != "sre" || first.Occurred.Year() != 2026 || first.Chunks != 1 {
		t.Errorf("first version: %+v", first)
	}
	c := first.ChunkList[0]
	if c.ID != "a.md@1#0" || c.Heading[0] != "Ports" || (*first.Text)[c.Start.Byte:c.End.Byte] != c.Text || c.Start.Line < 1 {
		t.Errorf("chunk: %+v", c)
	}
	if d := into[Document](t, f.call(t, "GET", target+"&text=false", ""), 200); d.Text != nil || d.ChunkList != nil || d.Version != 2 {
		t.Errorf("without text: %+v", d)
	}
	if a := f.call(t, "DELETE", target, ""); a.status != 204 || a.body != "" {
		t.Errorf("delete: %d %q", a.status, a.body)
	}
	f.call(t, "GET", target, "").problem(t)
	if item := into[Item](t, f.call(t, "GET", "/v1/items/a.md@1%230?namespace=n", ""), 200); item.Text != c.Text {
		t.Errorf("citation of a deleted document: %+v", item)
	}
	if names := into[namespacePage](t, f.call(t, "GET", "/v1/namespaces", ""), 200); len(names.Namespaces) != 1 {
		t.Errorf("namespaces = %v", names)
	}
}

func TestDocumentPages(t *testing.T) {
	f := start(t, Options{})
	for _, id := range []string{"a/1", "a/2", "a/3", "b/1"} {
		if _, err := f.client.PutDocument(t.Context(), "", ragctx.Document{ExternalID: id, Text: "text of " + id}, "/root"); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	cursor := ""
	for {
		page := into[documentPage](t, f.call(t, "GET", "/v1/documents?prefix=a/&limit=2&root=/root&cursor="+cursor, ""), 200)
		for _, d := range page.Documents {
			ids = append(ids, d.ID)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if strings.Join(ids, " ") != "a/1 a/2 a/3" {
		t.Errorf("ids = %v", ids)
	}
	found, err := f.client.ListDocuments(t.Context(), "", store.ListOptions{After: "a/2", Limit: 1})
	if err != nil || len(found) != 1 || found[0].ID != "a/3" {
		t.Errorf("after a/2: %+v, %v", found, err)
	}
}
