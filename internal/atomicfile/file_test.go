package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

const (
	dir  = "/data/deep/er"
	name = dir + "/file"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// write makes the directory and replaces the file, as a package would.
func write(fsys atomicfile.FS, contents string) error {
	if err := atomicfile.MakeDir(fsys, dir, 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(fsys, name, text(contents))
}

func TestWriteFile(t *testing.T) {
	fsys := atomicfile.OS{}
	sub := filepath.Join(t.TempDir(), "a", "b")
	if err := errors.Join(atomicfile.MakeDir(fsys, sub, 0o700), atomicfile.MakeDir(fsys, sub, 0o700)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(sub, "file")
	for _, want := range []string{"first", "", strings.Repeat("long", 50_000)} {
		if err := atomicfile.WriteFile(fsys, file, text(want)); err != nil {
			t.Fatal(err)
		}
		got, err := atomicfile.ReadFile(fsys, file, 1<<20)
		if err != nil || string(got) != want {
			t.Errorf("read %d bytes (%v), want %d", len(got), err, len(want))
		}
	}
	if _, err := atomicfile.ReadFile(fsys, file, 10); err == nil {
		t.Error("a file longer than the limit was read")
	}
	boom := errors.New("boom")
	if err := atomicfile.WriteFile(fsys, file, func(io.Writer) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("WriteFile = %v, want the writer's error", err)
	}
	entries, err := fsys.ReadDir(sub)
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the directory: %v (%v)", entries, err)
	}
	if err := atomicfile.WriteFile(fsys, filepath.Join(sub, "none", "file"), text("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteFile in a missing directory = %v", err)
	}
}

func TestCleanRemovesOnlyLeftovers(t *testing.T) {
	fsys := atomicfile.OS{}
	d := t.TempDir()
	for _, n := range []string{"file", "file.tmp", "other.tmp"} {
		if err := os.WriteFile(filepath.Join(d, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(d, "dir.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Clean(fsys, d); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, _ := os.ReadDir(d)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"dir.tmp", "file"}) {
		t.Errorf("left: %v", left)
	}
	if err := atomicfile.Clean(fsys, filepath.Join(d, "none")); err != nil {
		t.Errorf("Clean of a missing directory = %v", err)
	}
}

// Whatever operation fails, the file holds the old or the new contents, whole;
// the new ones if no error was returned, even after a crash.
func TestWriteFileFaults(t *testing.T) {
	old, fresh := strings.Repeat("old", 100), strings.Repeat("fresh", 50_000)
	for _, effect := range []faultfs.Effect{faultfs.Fail, faultfs.Short, faultfs.Crash} {
		for _, had := range []bool{false, true} {
			for n := 1; ; n++ {
				fsys := faultfs.New()
				if had {
					if err := write(fsys, old); err != nil {
						t.Fatal(err)
					}
				}
				fsys.Inject(faultfs.Fault{N: n, Effect: effect})
				err := write(fsys, fresh)
				_, fired := fsys.Count()
				at := fmt.Sprintf("effect %d at operation %d, had %v", effect, n, had)
				if effect != faultfs.Crash {
					check(t, at, fsys, had, err, old, fresh)
					fsys.Inject(faultfs.Fault{})
					if err := errors.Join(atomicfile.Clean(fsys, dir), write(fsys, fresh)); err != nil {
						t.Fatalf("%s: trying again: %v", at, err)
					}
					err = nil
				}
				var chance *rand.Rand
				if n%2 == 0 {
					chance = rand.New(rand.NewPCG(uint64(n), 1))
				}
				fsys.Restart(chance)
				check(t, at+", restarted", fsys, had, err, old, fresh)
				if err := atomicfile.Clean(fsys, dir); err != nil {
					t.Fatal(err)
				}
				if files := fsys.Files(); len(files) > 1 || len(files) == 1 && files[0] != name {
					t.Fatalf("%s: left over: %v", at, files)
				}
				if !fired {
					break
				}
			}
		}
	}
}

func check(t *testing.T, at string, fsys *faultfs.FS, had bool, err error, old, fresh string) {
	t.Helper()
	got := string(fsys.Bytes(name))
	switch {
	case got == fresh:
	case err == nil:
		t.Fatalf("%s: no error, and %d bytes", at, len(got))
	case had && got != old, !had && got != "":
		t.Fatalf("%s: %d bytes are neither old nor new (%v)", at, len(got), err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("payload"), []byte("next"), uint16(3), byte(1))
	f.Add([]byte{}, []byte{}, uint16(0), byte(0x80))
	f.Fuzz(func(t *testing.T, a, b []byte, at uint16, flip byte) {
		framed := atomicfile.AppendFrame(atomicfile.AppendFrame(nil, a), b)
		first, rest, err := atomicfile.NextFrame(framed)
		if err != nil || !bytes.Equal(first, a) {
			t.Fatalf("first frame = %q, %v, want %q", first, err, a)
		}
		second, rest, err := atomicfile.NextFrame(rest)
		if err != nil || !bytes.Equal(second, b) || len(rest) != 0 {
			t.Fatalf("second frame = %q, %v, want %q; %d bytes left", second, err, b, len(rest))
		}
		alone := atomicfile.AppendFrame(nil, a)
		if _, _, err := atomicfile.NextFrame(alone[:int(at)%len(alone)]); !errors.Is(err, atomicfile.ErrTorn) {
			t.Errorf("a short frame: %v", err)
		}
		if flip != 0 {
			alone[int(at)%len(alone)] ^= flip
			if _, _, err := atomicfile.NextFrame(alone); !errors.Is(err, atomicfile.ErrTorn) {
				t.Errorf("a damaged frame: %v", err)
			}
		}
	})
}

func TestZerosAreNoFrame(t *testing.T) {
	if _, _, err := atomicfile.NextFrame(make([]byte, 64)); !errors.Is(err, atomicfile.ErrTorn) {
		t.Errorf("NextFrame of zeros = %v", err)
	}
}
