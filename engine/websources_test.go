package engine_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs/extract"
	"github.com/ragctx/ragctx/providers/docs/fetch"
)

// web is a website with a sitemap and pages with ETags derived from their content.
type web struct {
	url string

	mu     sync.Mutex
	pages  map[string]string // texts by path; "!500" and so on are statuses
	listed []string
	broken bool // the sitemap, after its first entry
	login  bool // a page instead of the sitemap
	sent   []string
	now    time.Time
}

func newWeb(t *testing.T) *web {
	t.Helper()
	w := &web{pages: make(map[string]string), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

func (w *web) serve(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, ok := w.pages[r.URL.Path]
	var status int
	switch _, err := fmt.Sscanf(text, "!%d", &status); {
	case r.URL.Path == "/sitemap.xml" && w.login:
		fmt.Fprint(out, "<!DOCTYPE html><html><title>Log in</title><p>Who are you?</p></html>")
	case r.URL.Path == "/sitemap.xml":
		fmt.Fprint(out, "<urlset>")
		for i, p := range w.listed {
			fmt.Fprintf(out, "<url><loc>%s</loc></url>", p)
			if w.broken && i == 0 {
				fmt.Fprint(out, "<url><loc>")
				return
			}
		}
		fmt.Fprint(out, "</urlset>")
	case !ok:
		http.NotFound(out, r)
	case err == nil && status > 300 && status < 400:
		http.Redirect(out, r, strings.TrimPrefix(text, fmt.Sprintf("!%d ", status)), status)
	case err == nil:
		out.WriteHeader(status)
	default:
		out.Header().Set("ETag", fmt.Sprintf("%q", text))
		if r.Header.Get("If-None-Match") == fmt.Sprintf("%q", text) {
			out.WriteHeader(http.StatusNotModified)
			return
		}
		w.sent = append(w.sent, r.URL.Path)
		fmt.Fprint(out, text)
	}
}

// set changes the site.
func (w *web) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = nil
	w.now = w.now.Add(time.Hour) // nothing is remembered that long
	change()
}

// sites opens the site and those named, with a clock that only moves by the test.
func (w *web) sites(t *testing.T, named ...string) *engine.WebSources {
	t.Helper()
	var hosts fetch.Hosts
	for _, u := range append([]string{w.url}, named...) {
		var err error
		if hosts, err = hosts.With(u); err != nil {
			t.Fatal(err)
		}
	}
	s := engine.NewWebSources(fetch.Options{Hosts: hosts, Every: -1, Sleep: nil, Now: func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }})
	t.Cleanup(s.Close)
	return s
}

type ingestFunc func(*fixture, *testing.T, engine.IngestOptions) engine.IngestReport

// bothWays runs a test for an ingest here, and one by way of a server.
func bothWays(t *testing.T, test func(t *testing.T, ingest ingestFunc)) {
	t.Helper()
	t.Run("here", func(t *testing.T) {
		test(t, func(f *fixture, _ *testing.T, o engine.IngestOptions) engine.IngestReport { return f.ingest(o) })
	})
	t.Run("by jobs", func(t *testing.T) {
		test(t, func(f *fixture, t *testing.T, o engine.IngestOptions) engine.IngestReport { return f.sent(t, o) })
	})
}

func counts(r engine.IngestReport) string {
	return fmt.Sprintf("%d created, %d replaced, %d unchanged, %d deleted, %d skipped", r.Created, r.Replaced, r.Unchanged, r.Deleted, len(r.Skipped))
}

// TestSite follows a site through its changes.
func TestSite(t *testing.T) { bothWays(t, testSite) }

func testSite(t *testing.T, ingest ingestFunc) {
	f, w := open(t), newWeb(t)
	w.pages = map[string]string{"/docs": "alpha", "/docs/install": "beta", "/docs/use": "gamma", "/": "home", "/old": "!404"}
	w.listed = []string{w.url + "/docs", "docs/install#top", "/docs/use", "/", "/old", "http://other.example/x"}
	o := engine.IngestOptions{Paths: []string{w.url + "/sitemap.xml"}, Open: w.sites(t).Open, Tags: []string{"web"}}
	step := func(what, want string, sent ...string) {
		t.Helper()
		r := ingest(f, t, o)
		if got := counts(r); got != want {
			t.Errorf("%s: %s, want %s (%v)", what, got, want, r.Skipped)
		}
		slices.Sort(w.sent)
		if !slices.Equal(w.sent, sent) {
			t.Errorf("%s: sent %v, want %v", what, w.sent, sent)
		}
	}
	step("first", "4 created, 0 replaced, 0 unchanged, 0 deleted, 2 skipped", "/", "/docs", "/docs/install", "/docs/use")
	if got := f.ids(); !slices.Equal(got, []string{w.url + "/", w.url + "/docs", w.url + "/docs/install", w.url + "/docs/use"}) {
		t.Errorf("ids %v", got)
	}
	d, text, err := f.Documents().Get(t.Context(), "", w.url+"/docs/install", 0)
	if err != nil || text != "beta" || d.Source != w.url+"/docs/install" || d.Root != w.url+"/sitemap.xml" || d.Tags[0] != "web" || d.Stat == "" {
		t.Errorf("%+v, %q, %v", d, text, err)
	}
	w.set(func() {})
	step("again", "0 created, 0 replaced, 4 unchanged, 0 deleted, 2 skipped")
	w.set(func() { w.pages["/docs"] = "alpha two" })
	step("changed", "0 created, 1 replaced, 3 unchanged, 0 deleted, 2 skipped", "/docs")
	// The page above is still listed.
	w.set(func() {
		w.listed = slices.DeleteFunc(w.listed, func(s string) bool { return strings.HasPrefix(s, "docs/install") })
	})
	step("no longer listed", "0 created, 0 replaced, 3 unchanged, 1 deleted, 2 skipped")
	w.set(func() { w.pages["/docs/use"] = "!410" })
	step("gone", "0 created, 0 replaced, 2 unchanged, 1 deleted, 3 skipped")
	w.set(func() { w.pages["/docs"] = "!400" })
	step("refused", "0 created, 0 replaced, 1 unchanged, 0 deleted, 4 skipped")
	w.set(func() { w.pages["/docs"], w.broken = "alpha two", true })
	step("half a sitemap", "0 created, 0 replaced, 1 unchanged, 0 deleted, 1 skipped")
	w.set(func() { w.broken, w.login = false, true })
	step("a page instead", "0 created, 0 replaced, 0 unchanged, 0 deleted, 1 skipped")
	w.set(func() { w.login, w.listed = false, nil })
	step("an empty sitemap", "0 created, 0 replaced, 0 unchanged, 0 deleted, 0 skipped")
	if got := f.ids(); !slices.Equal(got, []string{w.url + "/", w.url + "/docs"}) {
		t.Errorf("ids %v", got)
	}
	w.set(func() { w.listed = []string{"/docs", "/"} })
	o.Reread = true
	step("reread", "0 created, 0 replaced, 2 unchanged, 0 deleted, 0 skipped", "/", "/docs")
	o.Reread, o.Tags = false, []string{"other"}
	w.set(func() {})
	step("other options", "0 created, 2 replaced, 0 unchanged, 0 deleted, 0 skipped", "/", "/docs")
}

// TestPages: pages that are named one by one.
func TestPages(t *testing.T) { bothWays(t, testPages) }

func testPages(t *testing.T, ingest ingestFunc) {
	f, w := open(t), newWeb(t)
	other := newWeb(t)
	other.pages["/secret"] = "secret"
	w.pages = map[string]string{
		"/a": "alpha", "/moved": "!302 /a", "/away": "!302 " + other.url + "/secret", "/list": "<urlset></urlset>",
		"/x.zip": "one.md:delta\ntwo.md:epsilon\n", "/several": "one.md:x\ntwo.md:y\n", "/blank": " ", "/binary": "a\x00b",
	}
	o := engine.IngestOptions{Open: w.sites(t).Open}
	for _, p := range []string{"/a#here", "/moved", "/away", "/list", "/blank", "/binary", "/nowhere"} {
		o.Paths = append(o.Paths, w.url+p)
	}
	r := ingest(f, t, o)
	want := []engine.Skipped{
		{Path: w.url + "/away", Reason: "redirects to " + other.url + "/secret, which is on the host " + strings.TrimPrefix(other.url, "http://") + ", which is not allowed; add it to allow_hosts"},
		{Path: w.url + "/list", Reason: `is a sitemap; its name must contain "sitemap" or end with .xml`},
		{Path: w.url + "/blank", Reason: "has no text"},
		{Path: w.url + "/binary", Reason: "is binary"},
		{Path: w.url + "/nowhere", Reason: "was answered with status 404 Not Found"},
	}
	if diff := cmp.Diff(want, r.Skipped); diff != "" {
		t.Errorf("skipped differs (-want +got):\n%s", diff)
	}
	if got := f.ids(); !slices.Equal(got, []string{w.url + "/a", w.url + "/moved"}) || len(other.sent) > 0 {
		t.Errorf("ids %v, sent %v", got, other.sent)
	}
	// A page that is gone loses its document, one that another host serves now does not.
	w.set(func() { w.pages["/a"], w.pages["/moved"] = "!404", "!301 "+other.url+"/secret" })
	if r := ingest(f, t, engine.IngestOptions{Open: o.Open, Paths: []string{w.url + "/a", w.url + "/moved"}}); r.Deleted != 1 || len(r.Skipped) != 2 {
		t.Errorf("gone: %+v", r)
	}
	// Archives are such by their names.
	o = engine.IngestOptions{Open: o.Open, Extract: listed, Paths: []string{w.url + "/several"}, Prefix: "team"}
	if r := ingest(f, t, o); len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "holds several documents") {
		t.Errorf("several: %+v", r)
	}
	if extract.Holds("x.zip") {
		archive := engine.IngestOptions{Open: o.Open, Extract: listed, Paths: []string{w.url + "/x.zip"}, Namespace: "archive"}
		if r := ingest(f, t, archive); r.Created != 2 {
			t.Errorf("archive: %+v", r)
		}
		if d, text, err := f.Documents().Get(t.Context(), "archive", w.url+"/x.zip/one.md", 0); err != nil || text != "delta" || d.Source != w.url+"/x.zip/one.md" {
			t.Errorf("inside: %+v, %q, %v", d, text, err)
		}
		w.set(func() { w.pages["/x.zip"] = "two.md:epsilon\n" })
		if r := ingest(f, t, archive); r.Unchanged != 1 || r.Deleted != 1 {
			t.Errorf("archive with less: %+v", r)
		}
	}
	// Bad URLs end the ingest, as bad paths do.
	for _, bad := range []string{"http://", "https://user:pw@a.example/"} {
		_, err := engine.Ingest(t.Context(), f.Documents(), engine.IngestOptions{Open: o.Open, Paths: []string{bad}})
		if err == nil || strings.Contains(err.Error(), "pw") && !strings.Contains(bad, "pw") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestSitePatterns: patterns apply to the paths of pages; excluded pages do not count as gone.
func TestSitePatterns(t *testing.T) {
	f, w := open(t), newWeb(t)
	w.pages = map[string]string{"/guide/a": "a", "/blog/b": "b", "/build/c.html": "c"}
	w.listed = slices.Sorted(maps.Keys(w.pages))
	o := engine.IngestOptions{Paths: []string{w.url + "/sitemap.xml"}, Open: w.sites(t).Open, Prefix: "site"}
	if r := f.ingest(o); r.Created != 3 {
		t.Errorf("all: %+v", r)
	}
	o.Walk.Include = []string{"guide/**"}
	w.set(func() {})
	if r := f.ingest(o); r.Files() != 1 || r.Deleted != 0 {
		t.Errorf("included: %+v", r)
	}
	o.Walk.Include, o.Walk.Exclude = nil, []string{"**/build/**", "blog/*"}
	w.set(func() {})
	if r := f.ingest(o); r.Files() != 2 || r.Deleted != 0 {
		t.Errorf("excluded: %+v", r)
	}
	if got := f.ids(); len(got) != 3 || got[0] != "site/"+w.url+"/blog/b" {
		t.Errorf("ids %v", got)
	}
	o.Walk.MaxFileBytes = 1
	w.set(func() { w.pages["/guide/a"] = "longer" })
	if r := f.ingest(o); len(r.Skipped) != 1 || r.Skipped[0].Reason != "is more than 1 bytes, the limit" {
		t.Errorf("large: %+v", r)
	}
}

// TestSiteJob: a job of the engine fetches, too, and counts its entries.
func TestSiteJob(t *testing.T) {
	w := newWeb(t)
	w.pages = map[string]string{"/a": "alpha", "/b": "beta"}
	w.listed = []string{"/a", "/b"}
	f := open(t, func(o *engine.Options) { o.OpenSource = w.sites(t).Open })
	j, err := f.Documents().Ingest(t.Context(), engine.IngestOptions{Paths: []string{w.url + "/sitemap.xml"}})
	if err != nil {
		t.Fatal(err)
	}
	if j = f.await(j.ID); j.State != store.JobDone || j.Counts.Created != 2 || j.Items != 2 {
		t.Errorf("%+v", j.Job)
	}
}

// TestSiteModel changes a website at random: the documents equal the pages that it has and lists, and
// failures delete none.
func TestSiteModel(t *testing.T) {
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/d"}
	bothWays(t, func(t *testing.T, ingest ingestFunc) {
		f, w, n := open(t), newWeb(t), 0
		o := engine.IngestOptions{Paths: []string{w.url + "/sitemap.xml"}, Open: w.sites(t).Open}
		rapid.Check(t, func(rt *rapid.T) {
			if n++; n > 40 {
				return // enough, each has many requests
			}
			o.Namespace = fmt.Sprint("run ", n)
			want := make(map[string]string)
			for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
				w.set(func() {
					w.listed = rapid.SliceOfDistinct(rapid.SampledFrom(paths), func(s string) string { return s }).Draw(rt, "listed")
					w.broken = rapid.IntRange(0, 3).Draw(rt, "broken") == 0
					for _, p := range paths {
						w.pages[p] = rapid.SampledFrom([]string{"one", "two", "!404", "!400"}).Draw(rt, p)
					}
				})
				known := w.listed
				if w.broken {
					known = known[:min(1, len(known))]
				}
				for _, p := range paths {
					switch text := w.pages[p]; {
					case slices.Contains(known, p) && text == "!404", !w.broken && len(w.listed) > 0 && !slices.Contains(w.listed, p):
						delete(want, w.url+p)
					case slices.Contains(known, p) && text != "!400":
						want[w.url+p] = text
					}
				}
				ingest(f, t, o)
			}
			got := make(map[string]string)
			list, err := f.Documents().List(t.Context(), o.Namespace, store.ListOptions{})
			for _, d := range list {
				if _, got[d.ID], err = f.Documents().Get(t.Context(), o.Namespace, d.ID, 0); err != nil {
					break
				}
			}
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("documents differ (-want +got):\n%s", diff)
			}
		})
	})
}
