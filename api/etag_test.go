package api

import (
	"net/http"
	"strings"
	"testing"
)

func TestTags(t *testing.T) {
	f := start(t, Options{})
	f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Alpha."}`)
	f.call(t, "POST", "/v1/memories", `{"id":"m","content":"Beta."}`)
	f.call(t, "POST", "/v1/turns", `{"id":"t","prompt":"Gamma?"}`)
	f.call(t, "PUT", "/v1/procedures/delta/draft", `{"trigger":"Delta","steps":["Do it."]}`)
	for _, path := range []string{"/v1/documents/a.md", "/v1/items/a.md@1%230", "/v1/items/m", "/v1/memories/m", "/v1/turns/t", "/v1/procedures/delta", "/openapi.json"} {
		t.Run(path, func(t *testing.T) {
			first := f.call(t, "GET", path, "")
			tag := first.header.Get("ETag")
			if first.status != http.StatusOK || tag == "" || first.header.Get("Cache-Control") != "private, no-cache" {
				t.Fatalf("status %d, tag %q, cache control %q", first.status, tag, first.header.Get("Cache-Control"))
			}
			weak := "W/" + strings.TrimPrefix(tag, "W/")
			for header, want := range map[string]int{
				tag: 304, weak: 304, "*": 304, `"other", ` + tag: 304, `"other"`: 200, "": 200, strings.Trim(tag, `"`): 200,
			} {
				a := f.call(t, "GET", path, "", "If-None-Match: "+header)
				if a.status != want || (a.body == "") != (want == 304) || a.header.Get("ETag") != tag {
					t.Errorf("If-None-Match %s: status %d, want %d; tag %q, %d bytes", header, a.status, want, a.header.Get("ETag"), len(a.body))
				}
			}
		})
	}
}

func TestTagsChange(t *testing.T) {
	f := start(t, Options{})
	f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Alpha."}`)
	f.call(t, "POST", "/v1/memories", `{"id":"m","content":"Beta."}`)
	document, memory := f.call(t, "GET", "/v1/documents/a.md", ""), f.call(t, "GET", "/v1/memories/m", "")
	f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Alpha and omega."}`)
	f.call(t, "PATCH", "/v1/memories/m", `{"importance":0.9}`)
	for path, before := range map[string]answer{"/v1/documents/a.md": document, "/v1/memories/m": memory} {
		a := f.call(t, "GET", path, "", "If-None-Match: "+before.header.Get("ETag"))
		if a.status != http.StatusOK || a.header.Get("ETag") == before.header.Get("ETag") {
			t.Errorf("%s: status %d, tag %s after %s", path, a.status, a.header.Get("ETag"), before.header.Get("ETag"))
		}
	}
	if a := f.call(t, "GET", "/v1/documents/none", "", "If-None-Match: *"); a.status != http.StatusNotFound || a.header.Get("ETag") != "" {
		t.Errorf("of what is not there: status %d, tag %q", a.status, a.header.Get("ETag"))
	}
}
