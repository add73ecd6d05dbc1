package web_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/web"
)

// fixture is a server with the console, and a browser without scripts.
type fixture struct {
	t      testing.TB
	eng    *engine.Engine
	url    string
	client *http.Client
	now    time.Time
}

func start(t testing.TB, o api.Options) *fixture {
	t.Helper()
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), ProviderTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, eng: eng, now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	o.Console = func(client func(string) *api.Client) http.Handler {
		return web.New(client, web.Options{Now: func() time.Time { return f.now }})
	}
	server := httptest.NewServer(api.New(eng, o))
	jar, _ := cookiejar.New(nil)
	f.url, f.client = server.URL, &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		server.Close()
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (f *fixture) do(r *http.Request) answer {
	f.t.Helper()
	resp, err := f.client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// get requests a page with headers in pairs of name and value.
func (f *fixture) get(path string, headers ...string) answer {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+path, http.NoBody)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return f.do(r)
}

var tokenIn = regexp.MustCompile(`name="csrf" value="([^"]+)"|X-CSRF-Token&#34;: &#34;([^&]+)&#34;`)

// token returns the token of a page.
func (f *fixture) token(page string) string {
	f.t.Helper()
	found := tokenIn.FindStringSubmatch(page)
	if found == nil {
		f.t.Fatalf("no token in %s", page)
	}
	return found[1] + found[2]
}

// post sends a form, with headers in pairs of name and value.
func (f *fixture) post(path string, form url.Values, headers ...string) answer {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return f.do(r)
}

// key creates a key with a role for namespaces.
func (f *fixture) key(role access.Role, namespaces ...string) string {
	f.t.Helper()
	k, err := f.eng.Keys().Create(f.t.Context(), access.Key{Name: "k", Role: role, Namespaces: namespaces})
	if err != nil {
		f.t.Fatal(err)
	}
	return k.Text
}

// signIn signs in with a key.
func (f *fixture) signIn(key string) {
	f.t.Helper()
	page := f.get("/console/sign-in")
	a := f.post("/console/sign-in", url.Values{"csrf": {f.token(page.body)}, "key": {key}})
	if a.status != http.StatusSeeOther {
		f.t.Fatalf("sign-in: %d %s", a.status, a.body)
	}
}

func TestBrowsersAreLedToTheConsole(t *testing.T) {
	f := start(t, api.Options{RequireKeys: true})
	if a := f.get("/", "Accept", "text/html,*/*"); a.status != 303 || a.header.Get("Location") != "/console" {
		t.Errorf("a browser: %d %v", a.status, a.header)
	}
	if a := f.get("/", "Accept", "*/*"); a.status != 401 {
		t.Errorf("a program: %d", a.status)
	}
	if a := f.get("/console"); a.status != 303 || !strings.HasSuffix(a.header.Get("Location"), "/playground") {
		t.Errorf("/console: %d %v", a.status, a.header)
	}
}

func TestSessions(t *testing.T) {
	f := start(t, api.Options{})
	f.key(access.Admin)
	reader := f.key(access.Read, "team")
	a := f.get("/console/playground?q=x")
	if a.status != 303 || a.header.Get("Location") != "/console/sign-in?next=%2Fconsole%2Fplayground%3Fq%3Dx" {
		t.Fatalf("without a session: %d %v", a.status, a.header)
	}
	if a := f.get("/console/playground", "HX-Request", "true"); a.status != 303 && a.header.Get("HX-Redirect") == "" && a.status != 200 {
		t.Errorf("a part of a page: %d %v", a.status, a.header)
	}
	for _, wrong := range []string{"", "x", "rgx_00000000_x", strings.Repeat("x", 4000), reader + "x"} {
		page := f.get("/console/sign-in")
		if a := f.post("/console/sign-in", url.Values{"csrf": {f.token(page.body)}, "key": {wrong}}); a.status != 401 {
			t.Errorf("signed in with %.20q: %d", wrong, a.status)
		}
	}
	for next, want := range map[string]string{
		"/console/playground?q=x": "/console/playground?q=x", "https://evil.example/": "/console", "//evil.example": "/console",
		"/v1/status": "/console", "/console/\\evil": "/console", "/console/sign-out": "/console",
	} {
		page := f.get("/console/sign-in")
		a := f.post("/console/sign-in", url.Values{"csrf": {f.token(page.body)}, "key": {reader}, "next": {next}})
		if a.status != 303 || a.header.Get("Location") != want {
			t.Errorf("after sign-in to %q: %d %q, want %q", next, a.status, a.header.Get("Location"), want)
		}
		if cookie := a.header.Get("Set-Cookie"); strings.Contains(cookie, reader) ||
			!strings.Contains(cookie, "HttpOnly; SameSite=Strict") || !strings.Contains(cookie, "Path=/console") {
			t.Errorf("cookie %q", cookie)
		}
	}
	if a := f.get("/console/playground"); a.status != 200 || !strings.Contains(a.body, "Sign out") {
		t.Errorf("signed in: %d %s", a.status, a.body)
	}
	if a := f.get("/console/playground?q=x&namespace=other"); a.status != 403 || !strings.Contains(a.body, `role="alert"`) {
		t.Errorf("a namespace beyond the key: %d %s", a.status, a.body)
	}
	f.now = f.now.Add(13 * time.Hour)
	if a := f.get("/console/playground"); a.status != 303 || !strings.Contains(a.header.Get("Location"), "ended=true") {
		t.Errorf("an idle session: %d %v", a.status, a.header)
	}
	f.signIn(reader)
	page := f.get("/console/playground")
	if a := f.post("/console/sign-out", url.Values{"csrf": {f.token(page.body)}}); a.status != 303 {
		t.Errorf("sign-out: %d", a.status)
	}
	if a := f.get("/console/playground"); a.status != 303 {
		t.Errorf("after sign-out: %d", a.status)
	}
}

// TestRevokedKey: a session ends with its key.
func TestRevokedKey(t *testing.T) {
	f := start(t, api.Options{})
	f.key(access.Admin)
	k, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "k", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	f.signIn(k.Text)
	if a := f.get("/console/playground"); a.status != 200 {
		t.Fatalf("signed in: %d", a.status)
	}
	if _, err := f.eng.Keys().Revoke(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	if a := f.get("/console/playground"); a.status != 303 {
		t.Errorf("with a revoked key: %d", a.status)
	}
	if a := f.get("/console/playground?q=x", "HX-Request", "true"); a.status != 401 || !strings.HasPrefix(a.header.Get("HX-Redirect"), "/console/sign-in?") {
		t.Errorf("a part with a revoked key: %d %v", a.status, a.header)
	}
}

// TestForgedForms: a request that may change something needs the token of its visitor.
func TestForgedForms(t *testing.T) {
	f := start(t, api.Options{})
	admin := f.key(access.Admin)
	f.signIn(admin)
	token := f.token(f.get("/console/playground").body)
	for name, form := range map[string]url.Values{"none": {}, "wrong": {"csrf": {token[1:] + "x"}}, "empty": {"csrf": {""}}} {
		if a := f.post("/console/sign-out", form); a.status != 403 {
			t.Errorf("%s token: %d", name, a.status)
		}
	}
	for header, value := range map[string]string{
		"Origin": "https://evil.example", "ORIGIN": "http://localhost:1", "Sec-Fetch-Site": "cross-site", // any other page of this machine, too
	} {
		if a := f.post("/console/sign-out", url.Values{"csrf": {token}}, header, value); a.status != 403 {
			t.Errorf("%s %s: %d", header, value, a.status)
		}
	}
	if a := f.post("/console/sign-out", url.Values{}, "X-CSRF-Token", token, "Origin", f.url); a.status != 303 {
		t.Errorf("the page's own request: %d %s", a.status, a.body)
	}
}

// TestLargeForms: only the upload takes more than a form has. Nothing of a larger form reaches the disk.
func TestLargeForms(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := start(t, api.Options{})
	token := f.token(f.get("/console/playground").body)
	body := "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n" + strings.Repeat("x", 40<<20) + "\r\n--b--\r\n"
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/console/sign-in", strings.NewReader(body))
	r.RequestURI = ""
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.Header.Set("X-CSRF-Token", token)
	if a := f.do(r); a.status < 400 {
		t.Errorf("%d", a.status)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestOwnOrigin: behind a name of its own the console's forms come from its own origin, and no other route
// accepts that.
func TestOwnOrigin(t *testing.T) {
	f := start(t, api.Options{RequireKeys: true})
	for path, status := range map[string]int{"/console/sign-in": 403, "/v1/documents": 403} { // no token; no such origin
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, f.url+path, http.NoBody)
		r.RequestURI, r.Host = "", "ctx.example.com"
		r.Header.Set("Origin", "https://ctx.example.com")
		a := f.do(r)
		if isPage := strings.Contains(a.body, "out of date"); a.status != status || isPage != (path == "/console/sign-in") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// TestHeaders: no page runs scripts of its own text, is framed or stored.
func TestHeaders(t *testing.T) {
	f := start(t, api.Options{})
	for _, path := range []string{"/console/playground", "/console/nothing", "/console/sign-in"} {
		a := f.get(path)
		csp := a.header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || a.header.Get("Cache-Control") != "no-store" ||
			a.header.Get("X-Frame-Options") != "DENY" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, a.header)
		}
		if regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style|\son\w+=|\sstyle=`).MatchString(a.body) {
			t.Errorf("%s has an inline script or style: %s", path, a.body)
		}
	}
}

var fileIn = regexp.MustCompile(`(?:href|src)="(/console/assets/[^"]+)"`)

// TestFirstPage: the first page and its files take at most 100 KB over the wire, and browsers keep the files.
func TestFirstPage(t *testing.T) {
	f := start(t, api.Options{})
	f.client.Transport = &http.Transport{DisableCompression: true} // asks by itself
	t.Cleanup(f.client.CloseIdleConnections)
	page := f.get("/console/playground")
	bytes := len(f.get("/console/playground", "Accept-Encoding", "gzip").body)
	files := fileIn.FindAllStringSubmatch(page.body, -1)
	if len(files) < 4 {
		t.Fatalf("the page has the files %q", files)
	}
	for _, file := range files {
		a := f.get(file[1], "Accept-Encoding", "gzip")
		if a.status != 200 || !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", file[1], a.status, a.header)
		}
		bytes += len(a.body)
	}
	if t.Logf("%d bytes", bytes); bytes > 100_000 {
		t.Errorf("the first page takes %d bytes", bytes)
	}
	if a := f.get("/console/assets/old/console.css"); a.status != 200 || strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("an old address: %d %v", a.status, a.header)
	}
	if a := f.get("/console/assets/x/nothing.js"); a.status != 404 {
		t.Errorf("no such file: %d", a.status)
	}
}

// TestStreamsEndWithTheSession: an open stream of a cluster sends nothing to a visitor who has signed out.
func TestStreamsEndWithTheSession(t *testing.T) {
	f := start(t, api.Options{})
	client := api.NewClientWith(f.url, api.ClientOptions{Key: f.key(access.Admin)})
	say := func(text string) {
		t.Helper()
		body := strings.NewReader(`{"topic": "task", "sender": "planner", "text": "` + text + `"}`)
		resp, err := client.Call(t.Context(), http.MethodPost, "/v1/clusters/crew/messages", nil, body, "application/json")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	say("first")
	f.signIn(f.key(access.Read))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/console/teams/stream?cluster=crew&after=0", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	stream := bufio.NewScanner(resp.Body)
	for stream.Scan() && !strings.Contains(stream.Text(), "first") { // reads on
	}
	if !strings.Contains(stream.Text(), "first") {
		t.Fatalf("the stream has no message: %v", stream.Err())
	}
	f.post("/console/sign-out", url.Values{"csrf": {f.token(f.get("/console/playground").body)}})
	say("second")
	for stream.Scan() {
		if strings.Contains(stream.Text(), "second") {
			t.Fatal("the stream goes on after sign-out")
		}
	}
}

var formIn = regexp.MustCompile(`action="([^"]+)"`)

// TestReadersSeeNoButtons: with a key that may only read, no page has a form that REST would refuse.
func TestReadersSeeNoButtons(t *testing.T) {
	f := start(t, api.Options{})
	admin, reader := f.key(access.Admin), f.key(access.Read)
	client := api.NewClientWith(f.url, api.ClientOptions{Key: admin})
	for path, body := range map[string]string{
		"/v1/documents": `{"id": "a.md", "text": "The pager rotates."}`,
		"/v1/turns":     `{"user_id": "ada", "session_id": "s", "prompt": "I live in Bern.", "response": "Noted."}`,
		"/v1/sessions":  `{"id": "s", "user_id": "ada", "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}`,
	} {
		resp, err := client.Call(t.Context(), http.MethodPost, path, nil, strings.NewReader(body), "application/json")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if err := f.eng.Sessions().SettleAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages := []string{
		"/console/documents", "/console/documents/one?id=a.md", "/console/memory?user=ada", "/console/conversations/one?id=s&user=ada",
		"/console/health", "/console/health/jobs",
	}
	buttons := func(key string) (n int) {
		f.signIn(key)
		for _, path := range pages {
			a := f.get(path)
			if a.status != http.StatusOK {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
			for _, form := range regexp.MustCompile(`<form[^>]*(?:method="post"|data-url)[^>]*>`).FindAllString(a.body, -1) {
				if found := formIn.FindStringSubmatch(form); found == nil || found[1] != "/console/sign-out" {
					n++
				}
			}
		}
		return n
	}
	if n := buttons(reader); n != 0 {
		t.Errorf("a reader sees %d forms that change something", n)
	}
	if n := buttons(admin); n < len(pages)-1 {
		t.Errorf("an admin sees %d forms only", n)
	}
}

// TestPageIsOneRequest: a page counts as one request against the limit of its key, however often it calls REST, and is refused
// beyond it.
func TestPageIsOneRequest(t *testing.T) {
	f := start(t, api.Options{Limits: api.Limits{Rate: .001, Burst: 3, Concurrent: 1}})
	for i := range 20 {
		f.store(strconv.Itoa(i), "The pager rotates "+strconv.Itoa(i))
	}
	f.key(access.Admin)
	f.signIn(f.key(access.Read)) // the first request
	for range 2 {
		if a := f.get("/console/playground?q=pager&compare=1"); a.status != http.StatusOK { // five calls of REST
			t.Fatalf("within the limit: %d %s", a.status, a.body)
		}
	}
	if a := f.get("/console/playground?q=pager"); a.status != http.StatusTooManyRequests || !strings.Contains(a.body, "limit of 0.001 requests") {
		t.Errorf("beyond the limit: %d %s", a.status, a.body)
	}
}
