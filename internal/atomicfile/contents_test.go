package atomicfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// hidden is a file that does not look like one of the operating system's.
type hidden struct{ atomicfile.File }

func TestContents(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, size := range []int{0, 1, 63, 64, 100_000} {
		want := bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(name, want, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, writable := range []bool{false, true} {
			for _, hide := range []bool{false, true} {
				f, err := atomicfile.OS{}.OpenFile(name, os.O_RDONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				if hide {
					f = hidden{f}
				}
				b, release, err := atomicfile.Contents(f, int64(size), writable)
				_ = f.Close() // what is mapped stays
				if err != nil || !bytes.Equal(b, want) {
					t.Fatalf("%d bytes (%v, %v): %d, %v", size, writable, hide, len(b), err)
				}
				if size > 0 && uintptr(unsafe.Pointer(&b[0]))%64 != 0 {
					t.Errorf("%d bytes begin at %p", size, &b[0])
				}
				if writable && size > 0 {
					b[0] = 'y'
				}
				if err := release(); err != nil {
					t.Error(err)
				}
			}
		}
		if b, err := os.ReadFile(name); err != nil || !bytes.Equal(b, want) {
			t.Errorf("the file was written: %v", err)
		}
	}
	f, err := atomicfile.OS{}.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, f := range []atomicfile.File{f, hidden{f}} {
		if _, _, err := atomicfile.Contents(f, 100_001, false); err == nil {
			t.Error("more bytes than the file has")
		}
	}
}
