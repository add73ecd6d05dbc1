package docs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

// tree writes files, given as name and content, below a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// walk returns the ids of the files and the skipped paths with their reasons.
func walk(t *testing.T, o docs.WalkOptions, roots ...string) (ids, skips []string) {
	t.Helper()
	for f, err := range docs.Walk(t.Context(), roots, o) {
		var s *docs.Skip
		switch {
		case errors.As(err, &s):
			skips = append(skips, filepath.Base(s.Path)+": "+s.Reason)
		case err != nil:
			t.Fatal(err)
		default:
			ids = append(ids, f.ExternalID)
		}
	}
	return ids, skips
}

func TestWalk(t *testing.T) {
	dir := tree(t, map[string]string{
		"README.md": "x", "a/guide.txt": "x", "a/main.go": "x", "a/logo.png": "x", "b.PNG": "x", "unknown": "x", "page.html": "x",
		".git/x.md": "x", ".github/y.md": "x", "node_modules/z.md": "x", "a/target/z.md": "x", "a/dist/z.md": "x", "build/z.md": "x",
		"go.lock": "x", "vendor/modules.txt": "x", "vendor/v.go": "x", "docs/vendor/acme.md": "x",
		".gitignore": "*.tmp.md\n/private/\n", "q.tmp.md": "x", "private/p.md": "x", "a/private/p.md": "x",
		"a/.gitignore": "!keep.tmp.md\n", "a/keep.tmp.md": "x", "big.md": strings.Repeat("x", 200),
	})
	if err := os.Symlink(filepath.Join(dir, "README.md"), filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	var left docs.LeftOut
	ids, skips := walk(t, docs.WalkOptions{MaxFileBytes: 100, LeftOut: &left}, dir)
	want := []string{"README.md", "a/guide.txt", "a/keep.tmp.md", "a/main.go", "a/private/p.md", "docs/vendor/acme.md", "page.html"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	wantSkips := []string{
		"big.md: is 200 bytes or more; the limit is 100: split the file, or raise the limit (--max-file-size)",
		"link.md: is a symbolic link; links are not followed",
	}
	if diff := cmp.Diff(wantSkips, skips); diff != "" {
		t.Errorf("skips differ (-want +got):\n%s", diff)
	}
	wantLeft := docs.LeftOut{Types: map[string]int{"png": 2, "": 1}, Hidden: 1, Ignored: 2, Excluded: 6}
	if diff := cmp.Diff(wantLeft, left); diff != "" {
		t.Errorf("what is left out differs (-want +got):\n%s", diff)
	}
}

func TestLeftOut(t *testing.T) {
	files := map[string]string{"a.PNG": "", "b.png": "", "c.much too long to be one": "", "d.2020-01-01": ""}
	for i := range 200 {
		files[fmt.Sprintf("x.t%d", i)] = ""
	}
	var one, two docs.LeftOut
	walk(t, docs.WalkOptions{LeftOut: &one}, tree(t, files))
	two.Add(one)
	two.Add(one)
	n := 0
	for _, c := range two.Types {
		n += c
	}
	if one.Types["png"] != 2 || one.Types[""] != 2 || one.Types["*"] == 0 || len(one.Types) > 101 || n != 2*len(files) {
		t.Errorf("%v", one.Types)
	}
}

func TestWalkOptions(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.md": "x", "b.xyz": "x", "sub/c.md": "x", "sub/deep/d.md": "x", "build/e.md": "x", ".h/f.md": "x", ".git/g.md": "x",
		".gitignore": "a.md\n",
	})
	for _, tt := range []struct {
		name string
		o    docs.WalkOptions
		want []string
	}{
		{"include by name", docs.WalkOptions{Include: []string{"*.xyz"}}, []string{"b.xyz"}},
		{"include by path", docs.WalkOptions{Include: []string{"sub/*.md"}}, []string{"sub/c.md"}},
		{"include below", docs.WalkOptions{Include: []string{"./sub/"}}, []string{"sub/c.md", "sub/deep/d.md"}},
		{"alternatives", docs.WalkOptions{Include: []string{"**/{c,d}.m[a-z]"}}, []string{"sub/c.md", "sub/deep/d.md"}},
		{"exclude", docs.WalkOptions{Exclude: []string{"**/deep/**"}}, []string{"build/e.md", "sub/c.md"}},
		{"exclude nothing", docs.WalkOptions{Exclude: []string{}}, []string{"build/e.md", "sub/c.md", "sub/deep/d.md"}},
		{"hidden", docs.WalkOptions{Hidden: true, Include: []string{"f.md", "g.md"}}, []string{".h/f.md"}},
		{"no ignore", docs.WalkOptions{NoIgnore: true, Exclude: []string{"sub"}}, []string{"a.md"}},
	} {
		if tt.name == "no ignore" {
			tt.o.Exclude = append(tt.o.Exclude, "build")
		}
		ids, _ := walk(t, tt.o, dir)
		if diff := cmp.Diff(tt.want, ids); diff != "" {
			t.Errorf("%s: files differ (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestWalkRoots(t *testing.T) {
	a, b := tree(t, map[string]string{"x.md": "x", "y.md": "x"}), tree(t, map[string]string{"x.md": "x", ".odd": "x"})
	ids, skips := walk(t, docs.WalkOptions{}, a, b, filepath.Join(b, ".odd"))
	if diff := cmp.Diff([]string{"x.md", "y.md", ".odd"}, ids); diff != "" {
		t.Errorf("files differ:\n%s", diff)
	}
	if len(skips) != 1 || !strings.Contains(skips[0], "one by one") {
		t.Errorf("skips: %q", skips)
	}
}

func TestWalkErrors(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "x", "b.md": "x"})
	last := func(ctx context.Context, root string, o docs.WalkOptions) error {
		var last error
		for _, err := range docs.Walk(ctx, []string{root}, o) {
			last = err
		}
		return last
	}
	for _, bad := range []string{"[a", "{a,b", "", `a\`, strings.Repeat("a", 2000), "[z-a]"} {
		err := last(t.Context(), dir, docs.WalkOptions{Include: []string{bad}})
		var field *ragctx.FieldError
		if !errors.As(err, &field) || field.Field != "include" || !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("pattern %.10q: error %v", bad, err)
		}
	}
	if err := last(t.Context(), filepath.Join(dir, "nowhere"), docs.WalkOptions{}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("missing root: %v", err)
	}
	gone := tree(t, map[string]string{"c.md": "x"})
	var end error
	for _, err := range docs.Walk(t.Context(), []string{dir, gone}, docs.WalkOptions{}) {
		end = errors.Join(err, os.RemoveAll(gone))
	}
	var skip *docs.Skip
	if !errors.Is(end, ragctx.ErrInvalid) || errors.As(end, &skip) {
		t.Errorf("root that cannot be read: %v", end)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := last(ctx, dir, docs.WalkOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	n := 0
	for range docs.Walk(t.Context(), []string{dir}, docs.WalkOptions{}) {
		n++
		break
	}
	if n != 1 {
		t.Error("a walk that is left early goes on")
	}
}

// readOne reads a file that is one document.
func readOne(t *testing.T, f docs.File) (d ragctx.Document, err error) {
	t.Helper()
	n := 0
	for d, err = range f.Read(t.Context(), nil) {
		n++
	}
	if n != 1 {
		t.Errorf("%s gave %d documents", f.ExternalID, n)
	}
	return d, err
}

func TestRead(t *testing.T) {
	dir := tree(t, map[string]string{
		"plain.md": "a\r\nb", "bom.md": "\ufeffa", "le.md": "\xff\xfea\x00\x3d\xd8\x00\xde", "be.md": "\xfe\xff\x00a",
		"binary.md": "a\x00b", "latin.md": "caf\xe9", "odd.md": "\xff\xfea", "half.md": "\xff\xfe\x3d\xd8", "nul.md": "\xff\xfe\x00\x00",
	})
	got := make(map[string]string)
	for f, err := range docs.Walk(t.Context(), []string{dir}, docs.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		d, err := readOne(t, f)
		var s *docs.Skip
		switch {
		case errors.As(err, &s):
			got[f.ExternalID] = "skip: " + s.Reason
		case err != nil:
			t.Fatal(err)
		case d.Source != "file:"+f.ExternalID || d.MIME != "text/markdown" || !d.Occurred.IsZero():
			t.Errorf("document %+v", d)
		default:
			got[f.ExternalID] = d.Text
		}
	}
	want := map[string]string{
		"plain.md": "a\r\nb", "bom.md": "a", "le.md": "a😀", "be.md": "a",
		"binary.md": "skip: is binary", "latin.md": "café", "odd.md": "skip: is truncated UTF-16; copy it again",
		"half.md": "skip: is not UTF-16; convert it to UTF-8", "nul.md": "skip: has no text",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts differ (-want +got):\n%s", diff)
	}
}

func TestReadAfterChange(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "x", "b.md": "x", "c.md": "x"})
	reasons := make(map[string]string)
	for f, err := range docs.Walk(t.Context(), []string{dir}, docs.WalkOptions{MaxFileBytes: 10}) {
		if err != nil {
			t.Fatal(err)
		}
		switch f.ExternalID {
		case "a.md":
			err = os.Remove(f.Path)
		case "b.md":
			err = os.WriteFile(f.Path, make([]byte, 20), 0o644)
		case "c.md":
			err = errors.Join(os.Remove(f.Path), os.Mkdir(f.Path, 0o755))
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = readOne(t, f)
		var s *docs.Skip
		if !errors.As(err, &s) || s.Path != f.Path {
			t.Fatalf("%s: %v", f.ExternalID, err)
		}
		reasons[f.ExternalID] = s.Reason
	}
	if !strings.Contains(reasons["b.md"], "limit is 10") || reasons["c.md"] != "is no longer a regular file" || reasons["a.md"] == "" {
		t.Errorf("reasons: %q", reasons)
	}
}

func TestIgnoreAboveTheRoot(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore": "lost.md\n", "repo/.git/HEAD": "x", "repo/.gitignore": "*.tmp.md\n/a/b/c.md\n",
		"repo/a/.gitignore": "!keep.tmp.md\n/c.md\n",
		"repo/a/b/c.md":     "x", "repo/a/b/d/c.md": "x", "repo/a/b/x.tmp.md": "x", "repo/a/b/keep.tmp.md": "x", "repo/a/b/lost.md": "x",
	})
	root := filepath.Join(dir, "repo", "a", "b")
	ids, _ := walk(t, docs.WalkOptions{}, root)
	if diff := cmp.Diff([]string{"d/c.md", "keep.tmp.md", "lost.md"}, ids); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if ids, _ := walk(t, docs.WalkOptions{NoIgnore: true}, root); len(ids) != 5 {
		t.Errorf("without .gitignore: %q", ids)
	}
	ignored := docs.Ignored(root)
	for rel, want := range map[string]bool{"c.md": true, "d/c.md": false, "d/x.tmp.md": true, "keep.tmp.md": false} {
		if ignored(rel) != want {
			t.Errorf("ignored(%s) = %v", rel, !want)
		}
	}
}

// TestIgnoreLikeGit compares the ignored files with git.
func TestIgnoreLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	names := []string{
		"a.md", "b.md", "ab.md", "x y.md", "sub/a.md", "sub/b.md", "sub/deep/a.md", "sub/deep/ab.md",
		"other/a.md", "other/sub/b.md",
	}
	files := make(map[string]string)
	for _, n := range names {
		files[n] = "x"
	}
	dir := tree(t, files)
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git init: %s", out)
	}
	lines := rapid.SampledFrom([]string{
		"a.md", "/a.md", "*.md", "!a.md", "sub", "sub/", "/sub/", "sub/a.md", "**/sub", "sub/**", "!sub/deep/", "**/deep/*.md", "a?.md",
		"[ab].md", "[!a].md", "# comment", "", "x y.md  ", `x\ y.md`, "!*.md", "deep/", "other/**/b.md", "*", "!*/",
		"/*", `\!a.md`, "sub/*", "!/sub", "foo/", "a.md/", "?.md",
	})
	rapid.Check(t, func(rt *rapid.T) {
		for _, at := range []string{"", "sub"} {
			text := strings.Join(rapid.SliceOfN(lines, 0, 4).Draw(rt, "lines "+at), "\n")
			if err := os.WriteFile(filepath.Join(dir, at, ".gitignore"), []byte(text), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		cmd := exec.Command(git, "-C", dir, "ls-files", "-z", "--others", "--exclude-standard")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			rt.Fatal(err)
		}
		kept := make(map[string]bool)
		for name := range strings.SplitSeq(string(out), "\x00") {
			kept[name] = true
		}
		ids, _ := walk(t, docs.WalkOptions{}, dir)
		got, ignored := make(map[string]bool), docs.Ignored(dir)
		var below []string
		for _, id := range ids {
			got[id] = true
			if rel, ok := strings.CutPrefix(id, "sub/"); ok {
				below = append(below, rel)
			}
		}
		for _, name := range names {
			if got[name] != kept[name] || ignored(name) == kept[name] {
				rt.Errorf("%s: kept %v, ignored %v, git keeps it: %v", name, got[name], ignored(name), kept[name])
			}
		}
		// A root that is ignored is walked nevertheless.
		if ids, _ := walk(t, docs.WalkOptions{}, filepath.Join(dir, "sub")); below != nil && !slices.Equal(ids, below) {
			rt.Errorf("walk of the folder sub alone finds %q, not %q", ids, below)
		}
	})
}

func TestTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		"a.md": false, "#": false, "a~b.md": false, "template.md": false, "a.tmp.md": false, "4913.md": false,
		"a.md~": true, ".#a.md": true, "#a.md#": true, ".a.md.swp": true, "4913": true, "a.tmp": true,
		"a.md___jb_tmp___": true, "~$report.docx": true, ".goutputstream-X1Y2": true, ".~lock.a.docx#": true, "a.pdf.part": true,
	} {
		if got := docs.Temporary(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	dir := tree(t, map[string]string{"~$a.docx": "x", "#a.md#": "x", "a.md": "x"})
	for _, include := range [][]string{nil, {"*"}} {
		if ids, _ := walk(t, docs.WalkOptions{Include: include, Hidden: true}, dir); !slices.Equal(ids, []string{"a.md"}) {
			t.Errorf("walk with %q: %q", include, ids)
		}
	}
}

func TestWalkTellsDirectories(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "x", "b/c/d.md": "x", ".git/x": "x", "dist/x.md": "x", ".gitignore": "no/", "no/x.md": "x"})
	var dirs []string
	walk(t, docs.WalkOptions{OnDirectory: func(path string) {
		rel, _ := filepath.Rel(dir, path)
		dirs = append(dirs, filepath.ToSlash(rel))
	}}, dir)
	if !slices.Equal(dirs, []string{".", "b", "b/c"}) {
		t.Errorf("directories %q", dirs)
	}
}

// TestUnreadableIgnores: if a .gitignore cannot be read, nothing below it is ingested.
func TestUnreadableIgnores(t *testing.T) {
	dir := tree(t, map[string]string{"a/secret.md": "x", "b.md": "x"})
	if err := os.Mkdir(filepath.Join(dir, "a", ".gitignore"), 0o700); err != nil { // aliases root cannot read it
		t.Fatal(err)
	}
	ids, skips := walk(t, docs.WalkOptions{}, dir)
	if !slices.Equal(ids, []string{"b.md"}) || len(skips) != 1 {
		t.Errorf("%v, skipped %v", ids, skips)
	}
}
