package faultfs_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// put writes a file and syncs it if asked to.
func put(t *testing.T, fsys atomicfile.FS, name, data string, sync bool) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, data); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func base(t *testing.T) *faultfs.FS {
	t.Helper()
	fsys := faultfs.New()
	if err := atomicfile.MakeDir(fsys, "/d", 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, "/d/a", "old", true)
	if err := fsys.SyncDir("/d"); err != nil {
		t.Fatal(err)
	}
	return fsys
}

func TestRestartForgetsWhatWasNotSynced(t *testing.T) {
	fsys := base(t)
	put(t, fsys, "/d/a", "new", false)
	put(t, fsys, "/d/b", "b", true) // but not its name
	if err := fsys.MkdirAll("/d/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	open, err := fsys.OpenFile("/d/a", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fsys.Restart(nil)
	if got := string(fsys.Bytes("/d/a")); got != "old" || !slices.Equal(fsys.Files(), []string{"/d/a"}) {
		t.Errorf("/d/a holds %q; files %v", got, fsys.Files())
	}
	if _, err := fsys.Stat("/d/sub"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory survived: %v", err)
	}
	if _, err := open.Read(make([]byte, 1)); !errors.Is(err, faultfs.ErrCrashed) {
		t.Errorf("reading a file of an earlier life: %v", err)
	}
	if err := errors.Join(fsys.Rename("/d/a", "/d/c"), fsys.SyncDir("/d")); err != nil {
		t.Fatal(err)
	}
	if fsys.Restart(nil); !slices.Equal(fsys.Files(), []string{"/d/c"}) {
		t.Errorf("a synced rename is lost: %v", fsys.Files())
	}
	if err := fsys.Remove("/d/c"); err != nil {
		t.Fatal(err)
	}
	if fsys.Restart(nil); !slices.Equal(fsys.Files(), []string{"/d/c"}) {
		t.Errorf("an unsynced remove survived: %v", fsys.Files())
	}
}

// With chance, every outcome occurs.
func TestRestartByChance(t *testing.T) {
	seen := make(map[string]bool)
	for seed := range uint64(100) {
		fsys := base(t)
		put(t, fsys, "/d/t", "new", true)
		if err := fsys.Rename("/d/t", "/d/a"); err != nil {
			t.Fatal(err)
		}
		put(t, fsys, "/d/b", "bb", false)
		fsys.Restart(rand.New(rand.NewPCG(seed, 1)))
		seen["a="+string(fsys.Bytes("/d/a"))] = true
		if slices.Contains(fsys.Files(), "/d/b") {
			seen["b="+string(fsys.Bytes("/d/b"))] = true
		} else {
			seen["no b"] = true
		}
	}
	for _, want := range []string{"a=old", "a=new", "no b", "b=", "b=b", "b=bb"} {
		if !seen[want] {
			t.Errorf("%q never happened: %v", want, seen)
		}
	}
}

func TestEffects(t *testing.T) {
	for name, c := range map[string]struct {
		fault faultfs.Fault
		err   error
		a     string // final contents of the target
	}{
		"fail":        {faultfs.Fault{Op: faultfs.Write, N: 1, Err: syscall.ENOSPC}, syscall.ENOSPC, "old"},
		"short":       {faultfs.Fault{Op: faultfs.Write, N: 1, Effect: faultfs.Short}, syscall.EIO, "old"},
		"sync":        {faultfs.Fault{Op: faultfs.Sync, N: 1}, syscall.EIO, "old"},
		"tear":        {faultfs.Fault{Op: faultfs.Rename, N: 1, Effect: faultfs.Tear}, syscall.EIO, "ne"},
		"lose rename": {faultfs.Fault{Op: faultfs.Rename, N: 1, Effect: faultfs.Lose}, nil, "old"},
		"crash":       {faultfs.Fault{Op: faultfs.Rename, N: 1, Effect: faultfs.Crash}, faultfs.ErrCrashed, "old"},
		"second":      {faultfs.Fault{Op: faultfs.Rename, N: 2}, nil, "news"},
	} {
		fsys := base(t)
		fsys.Inject(c.fault)
		err := atomicfile.WriteFile(fsys, "/d/a", func(w io.Writer) error {
			_, err := io.WriteString(w, "news")
			return err
		})
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || string(fsys.Bytes("/d/a")) != c.a {
			t.Errorf("%s: %v, and %q; want %v and %q", name, err, fsys.Bytes("/d/a"), c.err, c.a)
		}
		if _, fired := fsys.Count(); fired != (name != "second") {
			t.Errorf("%s: fired %v", name, fired)
		}
	}
}

func TestFlippedRead(t *testing.T) {
	fsys := base(t)
	fsys.Inject(faultfs.Fault{Op: faultfs.Read, N: 1, Effect: faultfs.Flip})
	for i, want := range []bool{false, true} {
		b, err := atomicfile.ReadFile(fsys, "/d/a", 100)
		if err != nil || (string(b) == "old") != want {
			t.Errorf("read %d = %q, %v", i, b, err)
		}
	}
}

func TestStickyFaultsStay(t *testing.T) {
	fsys := base(t)
	fsys.Inject(faultfs.Fault{Op: faultfs.Stat, N: 2, Sticky: true})
	var failed []bool
	for range 4 {
		_, err := fsys.Stat("/d/a")
		failed = append(failed, err != nil)
	}
	if !slices.Equal(failed, []bool{false, true, true, true}) {
		t.Errorf("failed: %v", failed)
	}
}

// The fakes of os fail where those of the system do.
func TestMisuse(t *testing.T) {
	fsys := base(t)
	if err := fsys.MkdirAll("/d/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	_, missing := fsys.OpenFile("/d/none", os.O_RDONLY, 0)
	_, orphan := fsys.OpenFile("/none/a", os.O_WRONLY|os.O_CREATE, 0)
	_, isDir := fsys.OpenFile("/d/sub", os.O_RDONLY, 0)
	_, exclusive := fsys.OpenFile("/d/a", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)
	_, noDir := fsys.ReadDir("/none")
	for name, c := range map[string][2]error{
		"open missing":     {missing, fs.ErrNotExist},
		"create in none":   {orphan, fs.ErrNotExist},
		"open a directory": {isDir, syscall.EISDIR},
		"exclusive":        {exclusive, fs.ErrExist},
		"read no dir":      {noDir, fs.ErrNotExist},
		"remove missing":   {fsys.Remove("/d/none"), fs.ErrNotExist},
		"remove full dir":  {fsys.Remove("/d"), syscall.ENOTEMPTY},
		"rename missing":   {fsys.Rename("/d/none", "/d/b"), fs.ErrNotExist},
		"sync no dir":      {fsys.SyncDir("/none"), fs.ErrNotExist},
		"dir over file":    {fsys.MkdirAll("/d/a/b", 0o700), syscall.ENOTDIR},
		"remove dir":       {fsys.Remove("/d/sub"), nil},
	} {
		if !errors.Is(c[0], c[1]) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	entries, err := fsys.ReadDir("/d")
	if err != nil || len(entries) != 1 || entries[0].Name() != "a" {
		t.Errorf("ReadDir = %v, %v", entries, err)
	}
	if info, err := fsys.Stat("/d"); err != nil || !info.IsDir() {
		t.Errorf("Stat = %v, %v", info, err)
	}
}
