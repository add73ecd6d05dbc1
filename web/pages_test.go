package web_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

// attack is a text that runs a script wherever it is not escaped.
const attack = `</pre></script><script>alert(1)</script><img src=x onerror=alert(1)>"' onload='x' javascript:alert(1)`

// store stores a document.
func (f *fixture) store(id, text string) {
	f.t.Helper()
	_, err := f.eng.Documents().Put(f.t.Context(), "default", ragctx.Document{
		ExternalID: id, Text: text, Title: attack, Source: "javascript:" + attack, Tags: []string{"t<b>"},
		Metadata: map[string]any{"<i>": attack},
	}, "")
	if err != nil {
		f.t.Fatal(err)
	}
}

// TestHostileTexts: every page shows hostile texts, and a parser of HTML finds no script, handler, style or
// address that could run.
func TestHostileTexts(t *testing.T) {
	f := start(t, api.Options{})
	id := attack + "/a.md"
	f.store(id, "# "+attack+"\n\npager one "+attack+"\n\n## Second\n\nother words")
	f.store(id, "# "+attack+"\n\npager two "+attack+"\n\n## Second\n\nother words")
	f.store("b.md", "# "+attack+"\n\npager two "+attack+"\n\n## Second\n\nother words!")
	q := func(pairs ...string) string {
		v := make(url.Values)
		for i := 0; i+1 < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return "?" + v.Encode()
	}
	for path, wanted := range map[string]string{
		"/console/playground" + q("q", "pager "+attack, "user", attack):                               "What the model sees",
		"/console/playground" + q("q", "pager", "compare", "1", "format", "text", "b_format", "json"): "second setting",
		"/console/playground/why" + q("q", "pager "+attack):                                           "scope",
		"/console/documents":                                                  "b.md",
		"/console/documents" + q("prefix", attack):                            "a.md",
		"/console/documents" + q("q", "pager "+attack):                        "relevance",
		"/console/documents" + q("deleted", attack, "version", "1"):           "Undo",
		"/console/documents/one" + q("id", id):                                "Version 1",
		"/console/documents/one" + q("id", id, "version", "1"):                "not the current one",
		"/console/documents/difference" + q("id", id, "from", "1", "to", "2"): "pager two",
		"/console/documents/duplicates":                                       "b.md",
		"/console/health":                                                     "Everything works.",
		"/console/health/jobs":                                                "no jobs",
		"/console/health/keys":                                                "no keys",
		"/console/health/audit":                                               "Audit log",
	} {
		a := f.get(path)
		if a.status != http.StatusOK || !strings.Contains(a.body, wanted) {
			t.Errorf("%s: %d, without %q: %s", path, a.status, wanted, a.body)
		}
		harmless(t, path, a.body)
	}
	for _, path := range []string{
		"/console/documents/one" + q("id", attack), "/console/playground" + q("q", "x", "max_tokens", attack),
		"/console/playground" + q("q", "x", "namespace", strings.Repeat(attack, 10)), "/console/sign-in" + q("next", attack),
		"/console/documents" + q("cursor", attack), "/console/health/jobs" + q("id", attack), "/console/" + url.PathEscape(attack),
	} {
		harmless(t, path, f.get(path).body)
	}
}

// harmless reports markup that could run something.
func harmless(t *testing.T, path, page string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		tok := z.Token()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		switch tok.Data {
		case "style", "img", "iframe", "object", "embed", "base":
			t.Errorf("%s has the element %s", path, tok)
		case "script":
			if !slices.ContainsFunc(tok.Attr, func(a html.Attribute) bool { return a.Key == "src" && strings.HasPrefix(a.Val, "/console/assets/") }) {
				t.Errorf("%s has the script %s", path, tok)
			}
		}
		for _, a := range tok.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") && a.Key != "value" &&
				a.Key != "title" && a.Key != "aria-label" {
				t.Errorf("%s has the attribute %s=%q in %s", path, a.Key, a.Val, tok.Data)
			}
		}
	}
}

// TestDeleteAndUndo deletes a document by its form, and brings it back.
func TestDeleteAndUndo(t *testing.T) {
	f := start(t, api.Options{})
	f.store("a.md", "the pager goes to the platform team")
	page := f.get("/console/documents/one?id=a.md")
	form := url.Values{"csrf": {f.token(page.body)}, "id": {"a.md"}, "version": {"1"}}
	if a := f.post("/console/documents/delete", form); a.status != 303 || a.header.Get("Location") != "/console/documents?deleted=a.md&version=1" {
		t.Fatalf("delete: %d %v %s", a.status, a.header, a.body)
	}
	if a := f.get("/console/documents/one?id=a.md"); a.status != 404 {
		t.Errorf("a deleted document: %d", a.status)
	}
	if a := f.post("/console/documents/restore", form); a.status != 303 {
		t.Fatalf("undo: %d %s", a.status, a.body)
	}
	d, text, err := f.eng.Documents().Get(t.Context(), "default", "a.md", 0)
	if err != nil || text != "the pager goes to the platform team" || d.Title != attack || d.Metadata["<i>"] != attack || d.Tags[0] != "t<b>" {
		t.Errorf("brought back %+v %q, %v", d, text, err)
	}
	form.Set("erase", "1")
	if a := f.post("/console/documents/delete", form); a.status != 303 || strings.Contains(a.header.Get("Location"), "version") {
		t.Errorf("erase: %d %v", a.status, a.header)
	}
}

// TestUpload sends files as the page's script does, and follows the job to its end.
func TestUpload(t *testing.T) {
	f := start(t, api.Options{})
	f.eng.Jobs().Start()
	token := f.token(f.get("/console/documents").body)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("options", `{"prefix": "up/"}`)
	part, _ := w.CreateFormFile("file", "<b>a.md")
	fmt.Fprint(part, "# A\n\nthe pager")
	_ = w.Close()
	send := func(token string) answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/console/documents/upload", bytes.NewReader(body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", w.FormDataContentType())
		r.Header.Set("X-CSRF-Token", token)
		r.Header.Set("HX-Request", "true")
		return f.do(r)
	}
	if a := send("x"); a.status != 403 {
		t.Errorf("a forged upload: %d", a.status)
	}
	a := send(token)
	_, events, found := strings.Cut(a.body, `data-events="`)
	events, _, _ = strings.Cut(events, `"`)
	if a.status != 200 || !found {
		t.Fatalf("upload: %d %s", a.status, a.body)
	}
	if a := f.get(events); !strings.Contains(a.body, "event: end\ndata: ") || !strings.Contains(a.body, "1 created") ||
		a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("events: %v %s", a.header, a.body)
	}
	if a := f.get("/console/documents"); !strings.Contains(a.body, "&lt;b&gt;a.md") {
		t.Errorf("the list has no upload: %s", a.body)
	}
}
