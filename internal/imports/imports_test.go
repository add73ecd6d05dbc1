package imports

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sources are the exports in testdata, by kind. Those of chroma and qdrant were made by chromadb 1.5.9 and
// qdrant-client 1.20.0, the others by hand in the documented form.
var sources = map[string]string{
	"chatgpt": "chatgpt", "chroma": "chroma", "claude": "claude", "jsonl": "jsonl/mixed.jsonl", "mem0": "mem0/export.json",
	"notion": "notion", "obsidian": "obsidian/vault", "qdrant": "qdrant", "slack": "slack",
}

// read returns the items of a source as text, a JSON object each.
func read(t *testing.T, kind, source string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := reader(t, kind)(t.Context(), source, func(i Item) error {
		line := map[string]any{"name": i.Name}
		switch {
		case i.Document != nil:
			line["document"] = i.Document
		case i.Memory != nil:
			line["memory"] = i.Memory
		case i.Turn != nil:
			line["turn"] = i.Turn
		case i.LeftOut != "":
			line["left_out"] = i.LeftOut
		case i.Err != nil:
			line["error"] = i.Err.Error()
		}
		return enc.Encode(line)
	})
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

func reader(t testing.TB, kind string) func(context.Context, string, func(Item) error) error {
	t.Helper()
	for _, k := range Kinds() {
		if k.Name == kind {
			return k.Read
		}
	}
	t.Fatalf("no kind %s", kind)
	return nil
}

func TestGolden(t *testing.T) {
	for _, k := range Kinds() {
		if k.Name == "langchain-pg" {
			continue // TestLangChainOnPostgres
		}
		t.Run(k.Name, func(t *testing.T) {
			got := read(t, k.Name, filepath.Join("testdata", filepath.FromSlash(sources[k.Name])))
			golden := filepath.Join("testdata", k.Name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestArchives checks that a ZIP yields what its unpacked folder does, also as a part of another ZIP.
func TestArchives(t *testing.T) {
	for _, kind := range []string{"chatgpt", "claude", "notion", "slack"} {
		dir := filepath.Join("testdata", kind)
		want := read(t, kind, dir)
		packed := pack(t, tree(t, dir))
		inner, err := os.ReadFile(packed)
		if err != nil {
			t.Fatal(err)
		}
		nested := pack(t, map[string]string{"Export-Part-1.zip": string(inner)})
		for what, source := range map[string]string{"zip": packed, "nested": nested} {
			if diff := cmp.Diff(want, read(t, kind, source)); diff != "" {
				t.Errorf("%s, %s: %s", kind, what, diff)
			}
		}
	}
}

// tree reads the files of a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// pack writes a ZIP with files in order of their names, as a walk over folders lists them.
func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "export.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, path := range walkOrder(files) {
		w, err := z.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, files[path])
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// walkOrder sorts paths part by part.
func walkOrder(files map[string]string) []string {
	list := make([]string, 0, len(files))
	for name := range files {
		list = append(list, strings.ReplaceAll(name, "/", "\x01"))
	}
	slices.Sort(list)
	for i, name := range list {
		list[i] = strings.ReplaceAll(name, "\x01", "/")
	}
	return list
}

func TestHostile(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		zip  map[string]string
		want string
	}{
		"a name outside":     {"notion", map[string]string{"../../etc/x.md": "x", "/abs.md": "x", "ok.md": "fine"}, "leaves the archive"},
		"a backslash":        {"notion", map[string]string{`..\x.md`: "x"}, "leaves the archive"},
		"a bomb as a page":   {"notion", map[string]string{"big.md": strings.Repeat("0", maxText+1)}, "is longer than 32 MiB"},
		"bad JSON":           {"claude", map[string]string{"conversations.json": `[{"uuid":}]`}, "is not valid JSON"},
		"the end is missing": {"claude", map[string]string{"conversations.json": `[{"uuid":"a","chat_messages":[]}`}, "ends in the middle"},
		"no list":            {"chatgpt", map[string]string{"conversations.json": `{"a": {"b": 1}}`}, "is not a JSON list"},
		"nothing in it":      {"slack", map[string]string{}, "has no channels.json"},
		"no conversations":   {"chatgpt", map[string]string{"a.json": "[]", "b.json": "[]"}, "has no conversations.json"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, c.kind, pack(t, c.zip)); !strings.Contains(got, c.want) {
				t.Errorf("%.2000s", got)
			}
		})
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"broken.zip": "PK\x03\x04 no archive", "deep.json": strings.Repeat("[", 1<<20), "chroma.sqlite3": "no database"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, "notion", filepath.Join(dir, "broken.zip")); !strings.Contains(got, "download the export again") {
		t.Error(got)
	}
	for kind, name := range map[string]string{"mem0": "deep.json", "chroma": "", "chatgpt": "deep.json", "qdrant": "", "jsonl": "deep.json"} {
		if got := read(t, kind, filepath.Join(dir, name)); !strings.Contains(got, "error") || strings.Contains(got, "document\":") {
			t.Errorf("%s: %.500s", kind, got)
		}
	}
}

// TestLongElements checks that an element or blanks beyond the limit end a list, and that a list may be longer.
func TestLongElements(t *testing.T) {
	long := strings.Repeat(" ", 1<<16)
	for text, want := range map[string]int{
		`["` + long + `", 1]`: 0, long + "[1]": 0, `[1, 2,` + long + `3]`: 2, `{"a": "` + long + `", "x": [1]}`: 0,
		`{"a": [` + strings.Repeat("0,", 100) + `0], "x": [1, 2, 3]}`: 3, `[` + strings.Repeat("1,", 1<<16) + `1]`: 1<<16 + 1,
	} {
		n := 0
		in := &bounded{r: strings.NewReader(text), limit: 1 << 12, all: 1 << 20}
		err := list(in, func(int, json.RawMessage) error { n++; return nil }, []string{"x"})
		if n != want && (err == nil || n > want) || (err != nil) != errors.Is(err, ragctx.ErrTooLarge) || (err == nil) != (want > 2) {
			t.Errorf("%.20s: %d elements, %v", text, n, err)
		}
	}
	n := 0
	err := list(&bounded{r: strings.NewReader(`[` + strings.Repeat("1,", 1000)), limit: 1 << 12, all: 1000},
		func(int, json.RawMessage) error { n++; return nil }, nil)
	if !errors.Is(err, ragctx.ErrTooLarge) || n == 0 {
		t.Errorf("%d elements, %v", n, err)
	}
}

// TestLongLine checks that only a line that is too long is skipped.
func TestLongLine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader(strings.Repeat("a", 5000)+"\n"+strings.Repeat("b", 3000)+"\nc"), 1<<10)
	for _, want := range []struct {
		length int
		whole  bool
	}{{0, false}, {3001, true}, {1, true}} {
		line, whole, err := readLine(in, nil, 4000)
		if whole != want.whole || whole && len(line) != want.length || err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes, %v, %v; want %+v", len(line), whole, err, want)
		}
	}
}

// TestLinkOutOfVault checks that a symbolic link cannot leave the folder of the notes.
func TestLinkOutOfVault(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.md")
	vault := filepath.Join(dir, "vault")
	if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Mkdir(vault, 0o700), os.Symlink(secret, filepath.Join(vault, "a.md"))); err != nil {
		t.Skip(err)
	}
	if got := read(t, "obsidian", vault); strings.Contains(got, `"Text": "secret"`) || !strings.Contains(got, "error") {
		t.Error(got)
	}
}

// TestEmitEnds checks that an error of the receiver ends every reader, with that error.
func TestEmitEnds(t *testing.T) {
	stop := errors.New("stop")
	for _, k := range Kinds() {
		if k.Name == "langchain-pg" {
			continue // TestLangChainOnPostgres
		}
		n := 0
		err := k.Read(t.Context(), filepath.Join("testdata", filepath.FromSlash(sources[k.Name])), func(Item) error { n++; return stop })
		if !errors.Is(err, stop) || n != 1 {
			t.Errorf("%s: %d items, %v", k.Name, n, err)
		}
	}
}

// TestQdrantServer reads pages of points, and names the remedy if the server wants a key.
func TestQdrantServer(t *testing.T) {
	t.Setenv(qdrantKey, "k1")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /collections", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Api-Key") != "k1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"result":{"collections":[{"name":"a b"}]},"status":"ok","time":0.1}`)
	})
	mux.HandleFunc("POST /collections/a b/points/scroll", func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Offset      any
			WithPayload bool `json:"with_payload"`
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || !ask.WithPayload {
			t.Error(ask, err)
		}
		if ask.Offset == nil {
			fmt.Fprint(w, `{"result":{"points":[{"id":1,"payload":{"text":"one","n":12345678901234567890}}],"next_page_offset":"u-2"}}`)
			return
		}
		fmt.Fprint(w, `{"result":{"points":[{"id":"u-2","payload":{"page_content":"two","metadata":{"source":"s"}}}],"next_page_offset":null}}`)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	got := read(t, "qdrant", s.URL)
	for _, want := range []string{`"qdrant/a b/1"`, `12345678901234567890`, `"qdrant/a b/u-2"`, `"Source": "s"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	t.Setenv(qdrantKey, "")
	if got := read(t, "qdrant", s.URL); !strings.Contains(got, qdrantKey) {
		t.Error(got)
	}
}

// TestPickle checks that pickles which refer to themselves or to nothing end with an error.
func TestPickle(t *testing.T) {
	for name, in := range map[string]string{
		"empty": "", "no stack": "\x80\x04.", "no mark": "\x80\x04]e.", "no memo": "\x80\x04h\x09.",
		"a long text": "X\xff\xff\xff\xffabc.", "a call": "cos\nsystem\n(S'id'\ntR.", "a map as a key": "}}Ns.",
		"a list in itself": "]\x94h\x00a.",
	} {
		id, payload, err := localPoint([]byte(in))
		if err == nil {
			t.Errorf("%s: %s, %v", name, id, payload)
		}
	}
	// A payload whose lists refer to the one before from many places.
	deep := "\x8c\x01c\x8c\x01C\x93)\x81}(\x8c\x08__dict__}(\x8c\x02idK\x01\x8c\x07payload}(\x8c\x01x]\x94" // the memo has one list
	for i := range 40 {
		deep += "\x8c\x01x](" + strings.Repeat(fmt.Sprintf("h%c", i), 10) + "e\x94"
	}
	if _, _, err := localPoint([]byte(deep + "uuub.")); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

func FuzzReaders(f *testing.F) {
	for kind, source := range sources {
		if b, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(source))); err == nil {
			f.Add(kind, b)
		}
	}
	for _, kind := range []string{"chatgpt", "claude"} {
		b, err := os.ReadFile(filepath.Join("testdata", kind, "conversations.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, b)
	}
	f.Add("pickle", []byte("\x80\x04\x8c\x01c\x8c\x01C\x93)\x81}\x8c\x08__dict__}\x8c\x02idK\x01ssb."))
	f.Fuzz(func(t *testing.T, kind string, b []byte) {
		if _, ok := sources[kind]; !ok || kind == "chroma" || kind == "qdrant" {
			_, _, _ = localPoint(b)
			return
		}
		name := filepath.Join(t.TempDir(), "conversations.json")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = reader(t, kind)(t.Context(), name, func(i Item) error {
			set := 0
			for _, is := range []bool{i.Document != nil, i.Memory != nil, i.Turn != nil, i.LeftOut != "", i.Err != nil} {
				if is {
					set++
				}
			}
			if set != 1 {
				t.Errorf("%+v", i)
			}
			if d := i.Document; d != nil && (d.Text == "" || ragctx.ValidText("id", d.ExternalID) != nil && kind != "jsonl") {
				t.Errorf("%+v", d)
			}
			return nil
		})
	})
}

// TestOddExports checks that what exports seldom have is read right, or left out alone.
func TestOddExports(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		zip  map[string]string
		want []string // in the items
		not  []string
	}{
		"a byte order mark": {"claude", map[string]string{
			"conversations.json": "\ufeff" + `[{"uuid":"a","name":"Pears","chat_messages":[{"uuid":"1","sender":"human","text":"ripe?"}]}]`,
		}, []string{"ripe?"}, []string{"error"}},
		"a damaged file beside a whole one": {"chatgpt", map[string]string{
			"conversations-000.json": `[{"id":`,
			"conversations-001.json": `[{"id":"b","mapping":{"1":{"message":{"id":"1","author":{"role":"user"},"content":{"content_type":"text","parts":["plums"]}}}}}]`,
		}, []string{"ends in the middle", "plums"}, nil},
		"private folders": {"slack", map[string]string{
			"channels.json": `[{"id":"C1","name":"general"}]`, "groups.json": `[{"id":"G1","name":"board"}]`, "dms.json": `[{"id":"D1"`,
			"general/2024-05-01.json": `[{"user":"U1","text":"cherries","ts":"1714550400.1"}]`,
			"board/2024-05-01.json":   `[{"user":"U1","text":"salaries","ts":"1714550400.1"}]`,
			"D1/2024-05-01.json":      `[{"user":"U1","text":"salaries","ts":"1714550400.1"}]`,
		}, []string{"cherries", "private channels"}, []string{"salaries"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, c.kind, pack(t, c.zip))
			for _, s := range c.want {
				if !strings.Contains(got, s) {
					t.Errorf("no %q in %s", s, got)
				}
			}
			for _, s := range c.not {
				if strings.Contains(got, s) {
					t.Errorf("%q in %s", s, got)
				}
			}
		})
	}
	lines := filepath.Join(t.TempDir(), "records.jsonl")
	text := `{"id":1,"text":"same"}` + "\n" + `{"id":2,"text":"same"}` + "\n" +
		`{"id":"c","page_content":"lynxes","metadata":{"text":"inner","source":"zoo"}}` + "\n"
	if err := os.WriteFile(lines, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := read(t, "jsonl", lines)
	for _, s := range []string{`"ExternalID": "1"`, `"ExternalID": "2"`, `"Text": "lynxes"`, `"Source": "zoo"`} {
		if !strings.Contains(got, s) {
			t.Errorf("no %s in %s", s, got)
		}
	}
	for in, want := range map[string]string{
		"[[Pond|the pond]] %%todo%%here":                         "the pond here",
		"a `[[ -f x ]] %%d%%` b [[Pond]]":                        "a `[[ -f x ]] %%d%%` b Pond",
		"```sh\nif [[ -f a ]]; then printf %%d%%\n```\n[[Pond]]": "```sh\nif [[ -f a ]]; then printf %%d%%\n```\nPond",
	} {
		if got := plainLinks(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	stored := "\x80\x04"
	for i := range 300 {
		stored += fmt.Sprintf("\x8c\x04w%03d\x94", i) // a text, kept for later
	}
	if v, err := unpickle([]byte(stored + "j\x22\x01\x00\x00.")); err != nil || v != "w290" {
		t.Errorf("value 290 of a pickle is %v, %v", v, err)
	}
}
