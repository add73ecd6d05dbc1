package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const urlset = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">`

func locs(kind string, urls ...string) string {
	outer := map[string]string{"url": "urlset", "sitemap": "sitemapindex"}[kind]
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\"?>\n<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n", outer)
	for _, u := range urls {
		fmt.Fprintf(&b, "<%[1]s><loc>\n %[2]s </loc><lastmod>2026-01-01</lastmod></%[1]s>\n", kind, u)
	}
	fmt.Fprintf(&b, "</%s>", outer)
	return b.String()
}

func packed(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.Bytes()
}

// list returns the pages and errors of a sitemap of s.
func (s *site) list(t *testing.T, path string) (found []string, errs []*Error) {
	t.Helper()
	p, err := s.Sitemap(t.Context(), s.url+path)
	if err != nil {
		t.Fatal(err)
	}
	if !IsSitemap(p) {
		t.Fatalf("%s is no sitemap", path)
	}
	for u, err := range s.List(t.Context(), p) {
		if e, ok := errors.AsType[*Error](err); ok {
			errs = append(errs, e)
		} else if err != nil {
			t.Fatal(err)
		} else {
			found = append(found, strings.TrimPrefix(u, s.url))
		}
	}
	return found, errs
}

func TestList(t *testing.T) {
	var s *site
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		at := func(paths ...string) []string {
			for i, p := range paths {
				paths[i] = s.url + p
			}
			return paths
		}
		text := map[string]string{
			"/sitemap.xml":     locs("url", at("/a", "/b#x", "/a", "/c?x=1&amp;y=2")...),
			"/index.xml":       locs("sitemap", at("/one.xml", "/two.xml.gz", "/sitemap.txt")...),
			"/one.xml":         locs("url", at("/a")...),
			"/two.xml.gz":      string(packed(locs("url", at("/a", "/b")...))),
			"/sitemap.txt":     "\ufeff" + strings.Join(at("/b", "/d"), "\r\n") + "\n\n",
			"/robots.txt":      "User-agent: *\nDisallow: /index.xml\nSitemap: " + s.url + "/one.xml\nSitemap: /sitemap.txt",
			"/relative.xml":    locs("url", "/a", "b/c", "//other.example/x"),
			"/media.xml":       urlset + "<url><loc>" + s.url + "/a</loc><image:image><image:loc>" + s.url + "/a.png</image:loc></image:image></url></urlset>",
			"/latin.xml":       "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><urlset><url><loc>" + s.url + "/caf\xe9</loc></url></urlset>",
			"/loop.xml":        locs("sitemap", at("/loop.xml", "/loop2.xml", "/one.xml")...),
			"/loop2.xml":       locs("sitemap", at("/loop.xml", "/loop2.xml")...),
			"/lost.xml":        locs("sitemap", at("/one.xml", "/nowhere.xml", "/two.xml.gz")...),
			"/cut.xml":         strings.TrimSuffix(locs("url", at("/a", "/b")...), "</urlset>") + "<url><loc>" + s.url + "/c",
			"/entities.xml":    `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>` + s.url + `/&b;</loc></url></urlset>`,
			"/bad.xml":         locs("url", "", "ftp://x.example/", "javascript:alert(1)", s.url+"/a"),
			"/deep0.xml":       locs("sitemap", at("/deep1.xml")...),
			"/deep1.xml":       locs("sitemap", at("/deep2.xml")...),
			"/deep2.xml":       locs("sitemap", at("/deep3.xml")...),
			"/deep3.xml":       locs("sitemap", at("/deep4.xml")...),
			"/deep4.xml":       locs("sitemap", at("/deep5.xml")...),
			"/many.xml":        locs("url", at("/1", "/2", "/3", "/4", "/5", "/6")...),
			"/strangers.xml":   locs("sitemap", "https://other.example/s.xml"),
			"/mixed.xml":       locs("url", "https://other.example/a", s.url+"/a"),
			"/nota.xml":        "<rss><channel/></rss>",
			"/folder/here.xml": locs("url", "x"),
		}[r.URL.Path]
		if text == "" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, text)
	}, func(o *Options) { o.MaxURLs = 5 })
	for path, c := range map[string]struct {
		pages string
		errs  []string // parts of them; "!" marks the error of an incomplete list
	}{
		"/sitemap.xml":     {pages: "/a /b /c?x=1&y=2"},
		"/index.xml":       {pages: "/a /b /d"},
		"/robots.txt":      {pages: "/a /b /d"},
		"/relative.xml":    {pages: "/a /b/c", errs: []string{"other.example, which is not allowed"}},
		"/folder/here.xml": {pages: "/folder/x"},
		"/media.xml":       {pages: "/a"},
		"/latin.xml":       {pages: "/caf%C3%A9"},
		"/loop.xml":        {pages: "/a"},
		"/lost.xml":        {pages: "/a /b", errs: []string{"!404"}},
		"/cut.xml":         {pages: "/a /b", errs: []string{"!not valid XML"}},
		"/entities.xml":    {errs: []string{"!not valid XML"}},
		"/bad.xml":         {pages: "/a", errs: []string{"not a URL", "not a URL", "not a URL"}},
		"/deep0.xml":       {errs: []string{"!nested deeper than the limit of 4"}},
		"/many.xml":        {pages: "/1 /2 /3 /4 /5", errs: []string{"!more than the limit of 5 pages"}},
		"/strangers.xml":   {errs: []string{"!not allowed"}},
		"/mixed.xml":       {pages: "/a", errs: []string{"other.example, which is not allowed"}},
	} {
		found, errs := s.list(t, path)
		if got := strings.Join(found, " "); got != c.pages {
			t.Errorf("%s lists %q, want %q", path, got, c.pages)
		}
		if len(errs) != len(c.errs) {
			t.Errorf("%s: errors %v, want %v", path, errs, c.errs)
			continue
		}
		for i, e := range errs {
			want, incomplete := strings.CutPrefix(c.errs[i], "!")
			if !strings.Contains(e.Error(), want) || e.Incomplete != incomplete || e.Gone {
				t.Errorf("%s: %+v, want %q", path, e, c.errs[i])
			}
		}
	}
	for _, path := range []string{"/nota.xml"} {
		if p, err := s.Sitemap(t.Context(), s.url+path); err != nil || IsSitemap(p) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSitemapBomb: a sitemap that exceeds the limit is not decompressed further.
func TestSitemapBomb(t *testing.T) {
	bomb := packed(urlset + strings.Repeat(" ", maxSitemapBytes+1))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(bomb) })
	found, errs := s.list(t, "/sitemap.xml.gz")
	if len(found) != 0 || len(errs) != 1 || !errs[0].Incomplete || !strings.Contains(errs[0].Reason, "when decompressed") {
		t.Errorf("%v, %v", found, errs)
	}
}

func TestListEnds(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	p := Page{URL: s.url + "/sitemap.txt", At: s.url + "/sitemap.txt", Data: []byte(s.url + "/a\n" + s.url + "/b\n")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n := 0
	for _, err := range s.List(ctx, p) {
		n, last = n+1, err
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d, %v", n, last)
	}
	n = 0
	for range s.List(t.Context(), p) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d after a break", n)
	}
}

func TestIsSitemap(t *testing.T) {
	for _, c := range []struct {
		url, data string
		want      bool
	}{
		{"https://a.example/x", urlset, true},
		{"https://a.example/x", "  \n<!-- c -->" + `<?xml version="1.0"?><sitemapindex>`, true},
		{"https://a.example/sitemap.xml.gz", string(packed(urlset)), true},
		{"https://a.example/sitemap-1.txt", "https://a.example/1", true},
		{"https://a.example/robots.txt", "User-agent: *", true},
		{"https://a.example/notes.txt", "https://a.example/1", false},
		{"https://a.example/sitemap.txt", "How to write one", false},
		{"https://a.example/sitemap.html", "<!doctype html><html><title>Site map</title>", false},
		{"https://a.example/", "text <urlset>", false},
		{"https://a.example/data.xml", "<data><urlset/></data>", false},
		{"https://a.example/docs.tar.gz", string(packed("docs/a.md\x00")), false},
		{"https://a.example/", "", false},
	} {
		if got := IsSitemap(Page{URL: c.url, Data: []byte(c.data)}); got != c.want {
			t.Errorf("%s, %.40q: %v", c.url, c.data, got)
		}
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte(locs("url", "https://a.example/x", "/y")))
	f.Add([]byte("https://a.example/1\nhttps://a.example/2"))
	f.Add(packed(urlset + "<url><loc>z</loc></url>"))
	f.Add([]byte(`<?xml version="1.0" encoding="utf-16"?><urlset><url><loc>a`))
	hosts, err := ParseHosts([]string{"a.example"})
	if err != nil {
		f.Fatal(err)
	}
	c := New(Options{Hosts: hosts, MaxURLs: 20})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := Page{URL: "https://a.example/sitemap.txt", At: "https://a.example/sitemap.txt", Data: data}
		if head, _ := unpack(data, 4<<10); rootElement(head) == "sitemapindex" {
			return // would be asked for
		}
		IsSitemap(p)
		var found []string
		for u, err := range c.List(t.Context(), p) {
			if err == nil {
				found = append(found, u)
			}
		}
		if len(found) > 20 {
			t.Errorf("%d pages", len(found))
		}
		for _, u := range found {
			if again, err := Canonical(u); err != nil || again != u || !strings.HasPrefix(u, "http") || !strings.Contains(u, "a.example") {
				t.Errorf("%q, again %q, %v", u, again, err)
			}
		}
		if slices.Sort(found); len(slices.Compact(found)) != len(found) {
			t.Error("a page comes twice")
		}
	})
}
