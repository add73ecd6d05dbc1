package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index/vector"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// interrupting is a sink that stores nothing and calls stop on every document.
type interrupting struct{ stop func() }

func (s *interrupting) Put(ctx context.Context, _ string, _ ragctx.Document, _ string) (store.Put, error) {
	if err := ctx.Err(); err != nil {
		return store.Put{}, err
	}
	s.stop()
	return store.Put{Status: store.Created, Version: 1, Chunks: 1}, nil
}

func (*interrupting) DeleteIfVersion(context.Context, string, store.FileState) error { return nil }

func (*interrupting) RecordFileStates(context.Context, string, []store.FileState) error { return nil }

func (*interrupting) List(context.Context, string, store.ListOptions) ([]store.Document, error) {
	return nil, nil
}

func TestVectorGraphsOpen(t *testing.T) {
	for _, kind := range vectorGraphs() {
		g, err := vector.New(vector.Options{Graph: kind, Dimensions: 8})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		g.Close()
	}
}

func TestDataDir(t *testing.T) {
	env := func(vars map[string]string) lookupEnv {
		return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	}
	for _, c := range []struct {
		goos string
		vars map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/home/ada"}, "/home/ada/.local/share/ragctx"},
		{"linux", map[string]string{"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}, "/data/ragctx"},
		{"linux", map[string]string{"HOME": "/home/ada", "XDG_DATA_HOME": "relative"}, "/home/ada/.local/share/ragctx"},
		{"darwin", map[string]string{"HOME": "/Users/ada"}, "/Users/ada/Library/Application Support/ragctx"},
		{"windows", map[string]string{"LocalAppData": "/ada"}, "/ada/ragctx"},
		{"linux", nil, ""},
		{"windows", nil, ""},
	} {
		if got := filepath.ToSlash(dataDir(c.goos, env(c.vars))); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.goos, c.vars, got, c.want)
		}
	}
}

func TestClientHost(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:7700": "127.0.0.1:7700",
		"0.0.0.0:7700":   "127.0.0.1:7700",
		":7700":          "127.0.0.1:7700",
		"[::]:7700":      "[::1]:7700",
		"[::1]:7700":     "[::1]:7700",
		"nonsense":       "nonsense",
	} {
		if got := clientHost(addr); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

func TestServerURL(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:7700":         "http://127.0.0.1:7700",
		"http://localhost:7700/": "http://localhost:7700",
		"https://x":              "https://x",
		"localhost:7700/":        "http://localhost:7700",
		"[::1]:7700/base":        "http://[::1]:7700/base",
		"127.0.0.1.example.com":  "https://127.0.0.1.example.com",
		"box:7700":               "https://box:7700",
		"http://box:7700":        "http://box:7700",
		"ftp://x":                "",
		"http://":                "",
		"a b":                    "",
	} {
		got, err := serverURL(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestSummary(t *testing.T) {
	r := engine.IngestReport{Created: 2, Unchanged: 1, Chunks: 1000, Bytes: 3 << 20}
	for _, name := range []string{"d", "c", "b\x1b[2J", "a"} {
		r.Skipped = append(r.Skipped, engine.Skipped{Path: name, Reason: "is binary"})
	}
	r.Skipped = append(r.Skipped, engine.Skipped{Path: "z", Reason: "cannot be read"})
	r.LeftOut = docs.LeftOut{Types: map[string]int{"": 2, "*": 1, "png": 12, "exe": 12}, Hidden: 1, Ignored: 3, Excluded: 2}
	var b bytes.Buffer
	writeSummary(&b, r, 2*time.Second, false)
	want := `2 created, 0 replaced, 1 unchanged, 0 deleted
1000 chunks from 3.0 MiB in 2.00 s (500 chunks/s)
5 skipped:
  4: is binary
     a
     b�[2J
     c
     and 1 more (--verbose lists all)
  1: cannot be read
     z
left out: 12 exe, 12 png, 2 without an extension, 1 other, 1 hidden, 3 ignored by git, 2 excluded; --include '*.exe' takes such files, and no others
`
	if d := gocmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func TestManyTypesLeftOut(t *testing.T) {
	l := docs.LeftOut{Types: make(map[string]int)}
	for i := range 10 {
		l.Types[fmt.Sprint("t", i)] = i + 1
	}
	var b bytes.Buffer
	writeLeftOut(&b, l)
	if got := b.String(); !strings.Contains(got, " 3 t2, 2 other types; --include '*.t9'") {
		t.Error(got)
	}
}

func TestLinesAreRare(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	l := &lines{w: &b, now: func() time.Time { return now }, start: now, last: now}
	for range 100 {
		now = now.Add(100 * time.Millisecond)
		l.update(engine.IngestProgress{Path: "a.md", Report: engine.IngestReport{Created: 10, Chunks: 50}})
	}
	want := "ingesting: 10 files, 50 chunks, 2 files/s, 10 chunks/s, a.md\ningesting: 10 files, 50 chunks, 1 files/s, 5 chunks/s, a.md\n"
	if d := gocmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// TestJobProgress counts what was left out without listing it.
func TestJobProgress(t *testing.T) {
	p := jobProgress(engine.Job{Job: store.Job{Counts: store.JobCounts{Created: 2, Failed: 1_000_000, Skipped: 3}}})
	if got, want := tally(p, 0, time.Second), "1000005 files, 0 chunks, 2 files/s, 0 chunks/s"; got != want || len(p.Report.Skipped) > 0 {
		t.Errorf("%q, want %q; %d listed", got, want, len(p.Report.Skipped))
	}
}

// TestBarEnds draws into a buffer: the container must end whatever it has seen.
func TestBarEnds(t *testing.T) {
	for _, updates := range []int{0, 1, 100} {
		var b bytes.Buffer
		bar := newBar(&b)
		for range updates {
			bar.expect(10)
			bar.update(engine.IngestProgress{Path: "a.md"})
		}
		bar.end()
	}
}

func TestBarText(t *testing.T) {
	b := &bar{start: time.Now().Add(-10 * time.Second)}
	if got := b.text(); got != " looking for files" {
		t.Errorf("%q", got)
	}
	b.state.Store(&engine.IngestProgress{Path: "d/a\n.md", Report: engine.IngestReport{Created: 100, Chunks: 1000}})
	b.total.Store(300)
	if got, want := b.text(), " 100 of 300 files, 100 chunks/s, 20s left  a\ufffd.md"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	info.Main.Version = "v1.2.3"
	if text := describe(info).String(); !strings.HasPrefix(text, "v1.2.3 (abc with changes)\n") {
		t.Error(text)
	}
	if v := describe(nil).Version; v != "unknown" {
		t.Errorf("version %q without build information", v)
	}
}

func TestTextArg(t *testing.T) {
	if s, err := textArg("-", strings.NewReader(" a\nb \n"), 10); s != "a\nb" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	if _, err := textArg("-", strings.NewReader("0123456789x"), 10); err == nil {
		t.Error("text past the limit was taken")
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	if got := oneLine(errors.Join(errors.New("a\r\nb"), errors.New("c"))); got != "a; b; c" {
		t.Errorf("%q", got)
	}
}

// TestPrintable holds for every name that a file system may come up with.
func TestPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := printable(rapid.String().Draw(t, "s"))
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%q has a control character", s)
		}
	})
}

// FuzzParseSettings must never panic, and what it takes are known strings.
func FuzzParseSettings(f *testing.F) {
	for _, seed := range []string{`{}`, `{"addr": "x"}`, `{"addr": 1}`, `{"a": "b"}`, `null`, `[]`, `{} {}`, "{\"addr\": \"\x00\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseSettings("config.json", b)
		if err != nil {
			return
		}
		for name, v := range m {
			if _, ok := v.(string); !ok {
				t.Errorf("%s is %T", name, v)
			}
		}
	})
}

// TestNoneAnswered tells an answer that failed from one that found nothing.
func TestNoneAnswered(t *testing.T) {
	failed, empty := resolve.ProviderReport{Name: "docs", Error: "timed out"}, resolve.ProviderReport{Name: "memory"}
	for _, c := range []struct {
		name      string
		providers []resolve.ProviderReport
		want      string
	}{
		{"no providers", nil, ""},
		{"one of two failed", []resolve.ProviderReport{failed, empty}, ""},
		{"all failed", []resolve.ProviderReport{failed, failed}, "no provider answered: docs: timed out; docs: timed out"},
	} {
		var stdout, stderr bytes.Buffer
		err := writeAnswer(&stdout, &stderr, "xml", asIs, resolve.Answer{Providers: c.providers})
		if got := fmt.Sprint(err); got != cmp.Or(c.want, "<nil>") {
			t.Errorf("%s: %s, want %q", c.name, got, c.want)
		}
		if said := strings.Contains(stderr.String(), "empty answer"); said == (c.want != "") {
			t.Errorf("%s: stderr is %q", c.name, stderr.String())
		}
	}
}

// TestLongIDs stay whole and widen no other row.
func TestLongIDs(t *testing.T) {
	var b bytes.Buffer
	l := &documentList{w: &b}
	long := strings.Repeat("x", 200)
	if err := l.page([]store.Document{{ID: "a.md", Version: 1, Title: "A"}, {ID: long, Version: 1}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines[1]) > 60+40 || !strings.HasPrefix(lines[2], long+" ") {
		t.Error(b.String())
	}
}

// TestUsageErrorsExit2 holds where cobra or a library finds the mistake, too.
func TestUsageErrorsExit2(t *testing.T) {
	for _, line := range []string{
		"frob", "help frob", "completion frob", "docs frob", "query", "query x --frob", "query x --max-tokens 0",
		"query x --max-results 0", "bench --clients 0", "bench --clients 5000", "bench --requests -5", "bench --warmup -1",
		"bench --duration -1s", "bench --clients 1,x", "bench --rate 0", "bench --ingest 1,2,3", "bench --repeat 51", "bench --generate 0",
		"bench --arrivals x", "bench --recall-time -1s", "bench --rate 5 --clients 1,2", "bench --generate 5 --server http://127.0.0.1:1",
		"bench --generate 5 --data x", "bench --json", "eval", "ingest", "serve --addr x",
	} {
		if r := ragctxIn(t.Context(), t, t.TempDir(), "", strings.Fields(line)...); r.code != exitUsage {
			t.Errorf("%s: exit %d, %s", line, r.code, r.stderr)
		}
	}
}

func TestTokens(t *testing.T) {
	for v, ok := range map[string]bool{
		"0": true, "100000": true, "9223372036854775807": true, "9223372036854775808": false, "1e300": false, "-1": false, "1.5": false, "": false, "NaN": false,
	} {
		if err := checkTokens(v); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "9223372036854775807") {
			t.Errorf("%q: %v", v, err)
		}
	}
}
