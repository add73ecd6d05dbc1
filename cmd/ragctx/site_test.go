package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveSite serves a directory until the script ends and sets a variable to its URL:
// site DIR VARIABLE. In files called sitemap.xml and robots.txt SITE stands for the URL.
// What is in a directory called fail is answered with status 500, and /away leads to
// another host.
func serveSite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: site DIR VARIABLE")
	}
	dir := ts.MkAbs(args[0])
	files := http.FileServer(http.Dir(dir))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name := strings.TrimPrefix(r.URL.Path, "/"); {
		case name == "away":
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		case strings.HasPrefix(name, "fail/"):
			w.WriteHeader(http.StatusNotImplemented) // which is not tried again
		case name == "sitemap.xml", name == "robots.txt":
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			w.Write([]byte(strings.ReplaceAll(string(b), "SITE", "http://"+r.Host)))
		default:
			files.ServeHTTP(w, r)
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv(args[1], s.URL)
}

// eventually runs a ragctx command until its output has a text: eventually TEXT ARG....
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually TEXT ARG...")
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err := ts.Exec("ragctx", args[1:]...); err == nil && strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
	}
	ts.Fatalf("ragctx %q does not say %q", args[1:], args[0])
}
