package api

import (
	"bytes"
	"mime/multipart"
	"strings"
	"testing"
)

// TestPostDocument checks the first requests of a new user: text, a page with its address, a file and a
// form, each answered with the id.
func TestPostDocument(t *testing.T) {
	f := start(t, Options{})
	for _, tc := range []struct {
		body, id string
		status   int
	}{
		{`{"text":"Tea is at four.","title":"Tea"}`, "", 201},
		{`{"id":"tea","text":"Tea is at four.","metadata":{"team":"ops"}}`, "tea", 201},
		{`{"id":"tea","text":"Tea is at five."}`, "tea", 200},
		{`{"url":"https://example.com/tea","text":"Tea is at six."}`, "https://example.com/tea", 201},
		{`{"url":"https://example.com/tea","text":"Tea is at six."}`, "https://example.com/tea", 200},
	} {
		put := into[documentPut](t, f.call(t, "POST", "/v1/documents?namespace=n", tc.body), tc.status)
		if put.ID == "" || tc.id != "" && put.ID != tc.id {
			t.Errorf("%s: %+v", tc.body, put)
		}
		d, err := f.client.Document(t.Context(), "n", put.ID, 0)
		if err != nil || !strings.HasPrefix(*d.Text, "Tea is at") || strings.HasPrefix(put.ID, "https:") && d.Source != put.ID {
			t.Errorf("%s: %+v, %v", tc.body, d, err)
		}
	}
	for body, want := range map[string]struct{ location, message string }{
		`{"url":"https://example.com/tea"}`:                    {"body.url", "ragctx ingest"},
		`{"url":"https://a","source":"b","text":"x"}`:          {"body.url", "contradicts source"},
		`{"id":"` + strings.Repeat("a", 513) + `","text":"x"}`: {"body.id", ""},
		`{}`: {"body.text", ""},
	} {
		p := f.call(t, "POST", "/v1/documents", body).problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Location != want.location || !strings.Contains(p.Errors[0].Message, want.message) {
			t.Errorf("%.60s: %+v", body, p)
		}
	}
	again := "Idempotency-Key: once"
	first := into[documentPut](t, f.call(t, "POST", "/v1/documents", `{"text":"Once."}`, again), 201)
	if second := into[documentPut](t, f.call(t, "POST", "/v1/documents", `{"text":"Once."}`, again), 201); second != first {
		t.Errorf("%+v, then %+v", first, second)
	}
	put := into[documentPut](t, f.call(t, "POST", "/v1/documents?id=notes.md&tags=a&tags=b", "# Notes\n\nTea.", "Content-Type: text/markdown"), 201)
	if d, err := f.client.Document(t.Context(), "", put.ID, 0); err != nil || put.ID != "notes.md" || len(d.Tags) != 2 {
		t.Errorf("%+v, %+v, %v", put, d, err)
	}
}

func TestPostDocumentForm(t *testing.T) {
	f := start(t, Options{})
	form := func(file string, values ...string) (body, header string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for i := 0; i+1 < len(values); i += 2 {
			if err := w.WriteField(values[i], values[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		for name := range strings.FieldsSeq(file) {
			part, err := w.CreateFormFile("file", name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := part.Write([]byte("<h1>Tea</h1><p>Tea is at four.</p>")); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String(), "Content-Type: " + w.FormDataContentType()
	}
	for id, values := range map[string][]string{"tea.html": nil, "other": {"id", "other", "title", "Of tea", "tags", "ops", "tags", "tea"}} {
		body, header := form("tea.html", values...)
		put := into[documentPut](t, f.call(t, "POST", "/v1/documents", body, header), 201)
		d, err := f.client.Document(t.Context(), "", id, 0)
		if err != nil || put.ID != id || d.Title == "" || len(d.Tags) != len(values)/4 {
			t.Errorf("%+v, %+v, %v", put, d, err)
		}
	}
	for want, values := range map[string][]string{
		"no file": {"", "title", "x"}, "several files": {"a.md b.md"}, "the part \\\"text\\\"": {"a.md", "text", "x"},
		"at most 65536": {"a.md", "title", strings.Repeat("x", maxFormValue+1)},
	} {
		body, header := form(values[0], values[1:]...)
		if a := f.call(t, "POST", "/v1/documents", body, header); a.status != 422 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s", want, a.status, a.body)
		}
	}
	if a := f.call(t, "POST", "/v1/documents", "no form", "Content-Type: multipart/form-data; boundary=x"); a.status != 422 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := f.call(t, "PUT", "/v1/documents/a", "no form", "Content-Type: multipart/form-data; boundary=x"); a.status != 415 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
