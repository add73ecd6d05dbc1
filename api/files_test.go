package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// spokenFiles is a stand-in for readers: a file's bytes say what it holds.
func spokenFiles(ctx context.Context, f extract.File, o extract.Options) iter.Seq2[extract.Text, error] {
	says := string(f.Data)
	switch {
	case strings.HasPrefix(says, "converted: "):
		return func(yield func(extract.Text, error) bool) {
			yield(extract.Text{
				Text: "# Read\n\n" + says[11:], MIME: "text/markdown", Format: "application/pdf", Title: "Its title",
				Metadata: map[string]any{"author": "Ada", "pages": 2}, Occurred: time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC),
			}, nil)
		}
	case strings.HasPrefix(says, "several: "):
		return func(yield func(extract.Text, error) bool) {
			for name := range strings.FieldsSeq(says[9:]) {
				var err error
				if strings.HasPrefix(name, "!") {
					err = &extract.Error{Path: name[1:], Reason: "is damaged"}
				}
				if !yield(extract.Text{Path: name, Text: "text of " + name}, err) {
					return
				}
			}
		}
	case strings.HasPrefix(says, "damaged"):
		return func(yield func(extract.Text, error) bool) {
			yield(extract.Text{}, &extract.Error{Reason: "is damaged; save it again"})
		}
	}
	return extract.Read(ctx, f, o)
}

func startFiles(t *testing.T, o Options) *fixture {
	t.Helper()
	return startWith(t, engine.Options{Extract: spokenFiles}, o)
}

// TestPutSource: source code of every registered type is a file, not only text/*.
func TestPutSource(t *testing.T) {
	f := startFiles(t, Options{})
	for _, media := range []string{
		"application/sql", "application/graphql", "application/x-sh", "application/typescript", "application/x-bibtex",
		"application/x-tex", "application/jsonl", "application/csv", "application/yaml",
	} {
		id := path.Base(media)
		into[documentPut](t, f.call(t, "PUT", "/v1/documents/"+id, "select 1", "Content-Type: "+media), 201)
		if d := into[Document](t, f.call(t, "GET", "/v1/documents/"+id+"?text=true", ""), 200); *d.Text != "select 1" {
			t.Errorf("%s: %+v", media, d)
		}
	}
}

func TestPutFile(t *testing.T) {
	f := startFiles(t, Options{})
	const target = "/v1/documents/guide.pdf"
	put := into[documentPut](t, f.call(t, "PUT", target, "converted: zebras", "Content-Type: application/octet-stream"), 201)
	if put.ID != "guide.pdf" || put.Status != store.Created || put.Chunks != 1 {
		t.Errorf("%+v", put)
	}
	d := into[Document](t, f.call(t, "GET", target, ""), 200)
	if *d.Text != "# Read\n\nzebras" || d.Title != "Its title" || d.MIME != "text/markdown" || d.Source != "docs:guide.pdf" ||
		d.Metadata["author"] != "Ada" || d.Occurred.Year() != 2020 {
		t.Errorf("%+v", d)
	}
	if again := into[documentPut](t, f.call(t, "PUT", target, "converted: zebras", "Content-Type: application/octet-stream"), 200); again.Status != store.Unchanged {
		t.Errorf("again: %+v", again)
	}
	// What the parameters say wins over what the file says.
	q := url.Values{
		"title": {"Mine"}, "source": {"https://a.example/guide.pdf"}, "tags": {"a", "b"}, "root": {"r"},
		"metadata": {`{"author": "Bob", "issue": 1234567}`}, "occurred": {"2021-05-06T07:08:09Z"}, "namespace": {"n"},
	}
	into[documentPut](t, f.call(t, "PUT", target+"?"+q.Encode(), "converted: zebras", "Content-Type: application/octet-stream"), 201)
	d = into[Document](t, f.call(t, "GET", target+"?namespace=n", ""), 200)
	if d.Title != "Mine" || d.Source != "https://a.example/guide.pdf" || strings.Join(d.Tags, " ") != "a b" || d.Root != "r" ||
		d.Metadata["author"] != "Bob" || d.Metadata["pages"] == nil || d.Metadata["issue"] != float64(1234567) || d.Occurred.Year() != 2021 {
		t.Errorf("%+v", d)
	}
	if c := f.call(t, "POST", "/v1/search", `{"query":"zebras"}`); c.status != 200 || !strings.Contains(c.body, `"id":"guide.pdf@1#0"`) {
		t.Errorf("is not found: %s", c.body)
	}
}

// TestPutTitle has a page with nothing but a title, as a file and as text in JSON, and an entry with
// nothing but that.
func TestPutTitle(t *testing.T) {
	f := start(t, Options{})
	const page = "<html><head><title>Ceramics of the Etruscans</title></head><body></body></html>"
	into[documentPut](t, f.call(t, "PUT", "/v1/documents/page.html", page, "Content-Type: text/html"), 201)
	into[documentPut](t, f.call(t, "PUT", "/v1/documents/sent", fmt.Sprintf(`{"text":%q,"mime":"text/html"}`, page)), 201)
	into[documentPut](t, f.call(t, "PUT", "/v1/documents/entry", `{"title":"Ceramics of the Etruscans"}`), 201)
	for _, id := range []string{"page.html", "sent", "entry"} {
		if d := into[Document](t, f.call(t, "GET", "/v1/documents/"+id, ""), 200); *d.Text != "Ceramics of the Etruscans" {
			t.Errorf("%s: %+v", id, d)
		}
	}
	for _, body := range []string{`{}`, `{"text":"","title":" "}`} {
		p := f.call(t, "PUT", "/v1/documents/none", body).problem(t)
		if p.Status != 422 || !strings.Contains(p.Detail, "text: is empty or white space, and there is no title") {
			t.Errorf("%s: %+v", body, p)
		}
	}
}

// TestPutText: what is text already stays as it is.
func TestPutText(t *testing.T) {
	f := startFiles(t, Options{})
	for _, c := range []struct{ id, media, mime string }{
		{"notes", "text/markdown", "text/markdown"},
		{"notes.md", "text/plain", "text/markdown"},
		{"notes.md", "application/octet-stream", "text/markdown"},
		{"notes.rst", "text/x-rst; charset=utf-8", "text/x-rst"},
	} {
		f.call(t, "PUT", "/v1/documents/"+c.id, "\ufeffOne\n===\n\nTwo.\n", "Content-Type: "+c.media)
		d := into[Document](t, f.call(t, "GET", "/v1/documents/"+c.id, ""), 200)
		if *d.Text != "One\n===\n\nTwo.\n" || d.MIME != c.mime {
			t.Errorf("%s as %s: %q, %s", c.id, c.media, *d.Text, d.MIME)
		}
	}
}

func TestBadFiles(t *testing.T) {
	f := startFiles(t, Options{MaxFileBytes: 64})
	for name, c := range map[string]struct {
		query, body, header string
		status              int
		location, message   string
	}{
		"unknown type": {"", "x", "Content-Type: image/png", 415, "header.Content-Type", "or a file: text/*"},
		"a form":       {"", "x", "Content-Type: multipart/form-data; boundary=x", 415, "header.Content-Type", "send application/json"},
		"compressed":   {"", "x", "Content-Encoding: gzip", 415, "header.Content-Type", ""},
		"binary":       {"", "a\x00b", "Content-Type: application/octet-stream", 422, "body", "is binary"},
		"damaged":      {"", "damaged", "Content-Type: application/octet-stream", 422, "body", "is damaged; save it again"},
		"several":      {"", "several: a b", "Content-Type: application/octet-stream", 422, "body", "send the file in a form to POST /v1/documents:bulk"},
		"one inside":   {"", "several: a", "Content-Type: application/octet-stream", 422, "body", "holds several documents"},
		"bad inside":   {"", "several: !a", "Content-Type: application/octet-stream", 422, "body", "holds several documents"},
		"none":         {"", "several: ", "Content-Type: application/octet-stream", 422, "body", "holds no documents"},
		"empty":        {"", " ", "Content-Type: text/plain", 422, "body.text", "is empty"},
		"too large":    {"", strings.Repeat("x", 65), "Content-Type: text/plain", 413, "body", "64 bytes; split the file"},
		"metadata":     {"?metadata=[]", "x", "Content-Type: text/plain", 422, "query.metadata", "is no JSON object"},
		"more":         {"?metadata={}{}", "x", "Content-Type: text/plain", 422, "query.metadata", "is no JSON object"},
		"null":         {"?metadata=null", "x", "Content-Type: text/plain", 422, "query.metadata", "is no JSON object"},
		"occurred":     {"?occurred=today", "x", "Content-Type: text/plain", 422, "query.occurred", ""},
		"long title":   {"?title=" + strings.Repeat("x", 2049), "x", "Content-Type: text/plain", 422, "query.title", "2048"},
		"beside JSON":  {"?title=x&tags=y", `{"text":"x"}`, "Content-Type: application/json", 422, "query.title", "is for files; put it into the JSON"},
		"unknown":      {"?text=x", "x", "Content-Type: text/plain", 422, "query.text", "is not a parameter here"},
	} {
		p := f.call(t, "PUT", "/v1/documents/x"+c.query, c.body, c.header).problem(t)
		if name == "compressed" {
			continue // JSON, which says so already
		}
		if p.Status != c.status || len(p.Errors) == 0 || p.Errors[0].Location != c.location || !strings.Contains(p.Errors[0].Message, c.message) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if list, err := f.client.ListDocuments(t.Context(), "", store.ListOptions{}); err != nil || len(list) > 0 {
		t.Errorf("stored: %v, %v", list, err)
	}
}

// TestClientPutFile sends what the client is given.
func TestClientPutFile(t *testing.T) {
	f := startFiles(t, Options{})
	d := ragctx.Document{
		ExternalID: "a/b c.pdf", Title: "T", Source: "s", Tags: []string{"x", "y"}, Metadata: map[string]any{"k": "v"},
		Occurred: time.Date(2022, 1, 1, 0, 0, 0, 500, time.UTC),
	}
	put, err := f.client.PutFile(t.Context(), "n", d, []byte("converted: lions"), "root")
	if err != nil || put.Status != store.Created {
		t.Fatalf("%+v, %v", put, err)
	}
	got, text, err := f.eng.Documents().Get(t.Context(), "n", d.ExternalID, 0)
	if err != nil || text != "# Read\n\nlions" || got.Title != "T" || got.Source != "s" || len(got.Tags) != 2 || got.Metadata["k"] != "v" || got.Root != "root" {
		t.Errorf("%+v, %q, %v", got, text, err)
	}
	// The store keeps microseconds.
	if !got.Occurred.Equal(d.Occurred.Truncate(time.Microsecond)) {
		t.Errorf("occurred %v", got.Occurred)
	}
	// The same key is answered as before.
	first := f.call(t, "PUT", "/v1/documents/k", "converted: x", "Content-Type: application/octet-stream", "Idempotency-Key: k1")
	second := f.call(t, "PUT", "/v1/documents/k", "converted: x", "Content-Type: application/octet-stream", "Idempotency-Key: k1")
	if first.status != 201 || second.status != 201 || second.header.Get(replayedHeader) != "true" {
		t.Errorf("%+v, %+v", first, second)
	}
}

// TestBulkFiles: a file of a form may hold several documents, of which bad ones fail
// alone.
func TestBulkFiles(t *testing.T) {
	f := startFiles(t, Options{MaxFileBytes: 64})
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part := func(name, text string) {
		t.Helper()
		w, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	part("a.pdf", "converted: zebras")
	part("b.zip", "several: one.md !two.pdf three/x.md")
	part("c.zip", "several: ")
	part("d.pdf", "damaged")
	part("e.md", strings.Repeat("x", 65))
	part("f.md", "# Last")
	form.Close()
	a := f.call(t, "POST", "/v1/documents:bulk?wait=1m", b.String(), "Content-Type: "+form.FormDataContentType())
	j := into[engine.Job](t, a, 200)
	if j.Counts.Created != 4 || j.Counts.Failed != 4 || j.Items != 8 {
		t.Errorf("%+v", j)
	}
	items := into[jobItemPage](t, f.call(t, "GET", "/v1/jobs/"+j.ID+"/items", ""), 200)
	var got []string
	for _, i := range items.Items {
		got = append(got, fmt.Sprintf("%d %s %s%s", i.N, i.Key, i.Status, i.Error))
	}
	want := []string{
		"1 a.pdf created", "2 b.zip/one.md created", "3 b.zip/two.pdf is damaged", "4 b.zip/three/x.md created",
		"5 c.zip holds no documents", "6 d.pdf is damaged; save it again", "7 e.md is more than 64 bytes long; split it", "8 f.md created",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items differ (-want +got):\n%s", diff)
	}
}
