package extract

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// readLines reads a file and returns a line for each text and each error.
func readLines(t testing.TB, f File, o Options) (lines []string) {
	t.Helper()
	for x, err := range Read(t.Context(), f, o) {
		var own *Error
		switch {
		case errors.As(err, &own):
			lines = append(lines, own.Path+"! "+own.Reason)
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, x.Path+": "+x.Text)
		}
	}
	return lines
}

type member struct{ name, data string }

func zipOf(tb testing.TB, members ...member) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.Create(m.name)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(w, m.data); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(tb testing.TB, headers []tar.Header, data ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, h := range headers {
		if i < len(data) {
			h.Size = int64(len(data[i]))
		}
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			tb.Fatal(err)
		}
		if i < len(data) {
			if _, err := io.WriteString(w, data[i]); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(tb testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zstdOf(tb testing.TB, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func TestArchives(t *testing.T) {
	pages := []member{{"docs/a.md", "# A"}, {"docs/b.txt", "b"}}
	tree := tarOf(t, []tar.Header{
		{Name: "docs/", Typeflag: tar.TypeDir},
		{Name: "docs/a.md"},
		{Name: "./docs/b.txt"},
	}, "", "# A", "b")
	want := []string{"docs/a.md: # A", "docs/b.txt: b"}
	for _, x := range []struct {
		name string
		data []byte
		want []string
	}{
		{"x.zip", zipOf(t, pages...), want},
		{"https://example.org/x.zip?download=1", zipOf(t, pages...), want},
		{"x", zipOf(t, pages...), want},
		{"x.tar", tree, want},
		{"x.tar.gz", gzipOf(t, tree), want},
		{"x.tgz", gzipOf(t, tree), want},
		{"x.tar.zst", zstdOf(t, tree), want},
		{"a.md.gz", gzipOf(t, []byte("# A")), []string{"a.md: # A"}},
		{"dir/a.md.zst", zstdOf(t, []byte("# A")), []string{"a.md: # A"}},
		{
			"in.zip", zipOf(t, member{"x.tgz", string(gzipOf(t, tree))}, member{"c.md", "c"}),
			[]string{"x.tgz/docs/a.md: # A", "x.tgz/docs/b.txt: b", "c.md: c"},
		},
		{"empty.zip", zipOf(t), nil},
	} {
		if diff := cmp.Diff(x.want, readLines(t, File{Name: x.name, Data: x.data}, Options{})); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}
}

func TestArchiveMembersRefused(t *testing.T) {
	got := readLines(t, File{Name: "x.zip", Data: zipOf(
		t, member{"../up.md", "x"}, member{"/abs.md", "x"}, member{`win\dow.md`, "x"}, member{"C:/x.md", "x"},
		member{"a.md", "1"}, member{"a.md", "2"},
		member{"__MACOSX/a.md", "x"}, member{".DS_Store", "x"}, member{"d/.git/config", "x"}, member{"bell\a.md", "x"},
		member{"pic.md", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"}, member{"z.md", "z"},
	)}, Options{})
	want := []string{
		"up.md! has a path that leads out of the archive",
		"abs.md! has an absolute path",
		"win/dow.md! has a backslash in its name; pack it again with slashes",
		"C:/x.md! has an absolute path",
		"a.md: 1",
		"a.md! occurs twice; only the first is read",
		"bell?.md! has a control character in its name",
		"pic.md! is binary (image/png)",
		"z.md: z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = readLines(t, File{Name: "x.tar", Data: tarOf(t, []tar.Header{
		{Name: "link.md", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard.md", Typeflag: tar.TypeLink, Linkname: "a.md"},
		{Name: "dev.md", Typeflag: tar.TypeChar},
		{Name: "../up.md"},
		{Name: "a.md"},
	}, "", "", "", "x", "a")}, Options{})
	want = []string{
		"link.md! is a link, which is not followed",
		"hard.md! is a link, which is not followed",
		"dev.md! is a device or another special file",
		"up.md! has a path that leads out of the archive",
		"a.md: a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestArchiveTake(t *testing.T) {
	var asked []string
	o := Options{Take: func(p string) bool {
		asked = append(asked, p)
		return strings.HasSuffix(p, ".md") || strings.HasSuffix(p, ".zip")
	}}
	inner := zipOf(t, member{"a.md", "a"}, member{"b.bin", "\x00"})
	got := readLines(t, File{Name: "x.zip", Data: zipOf(t, member{"in.zip", string(inner)}, member{"c.exe", "\x00"},
		member{"d.md", "d"})}, o)
	if diff := cmp.Diff([]string{"in.zip/a.md: a", "d.md: d"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"in.zip", "in.zip/a.md", "in.zip/b.bin", "c.exe", "d.md"}, asked); diff != "" {
		t.Error(diff)
	}
}

// TestDamagedArchives damages archives; a damaged member fails alone.
func TestDamagedArchives(t *testing.T) {
	two := zipOf(t, member{"a.md", strings.Repeat("alpha ", 20)}, member{"b.md", "bravo"})
	damage := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 0x55
		return b
	}
	encrypted := bytes.Clone(two)
	encrypted[bytes.Index(two, []byte("PK\x01\x02"))+8] |= 1
	method := bytes.Clone(two)
	binary.LittleEndian.PutUint16(method[bytes.Index(two, []byte("PK\x01\x02"))+10:], 14)
	tarball := tarOf(t, []tar.Header{{Name: "a.md"}, {Name: "b.md"}}, strings.Repeat("alpha ", 200), "bravo")
	packed := gzipOf(t, tarball)
	for _, x := range []struct {
		name, file string
		data       []byte
		want       []string
	}{
		{"checksum", "x.zip", damage(two, 30+len("a.md")+2), []string{"a.md! is damaged", "b.md: bravo"}},
		{
			"cut off", "x.zip", two[:len(two)-30],
			[]string{"! is damaged or truncated: its list of files cannot be read"},
		},
		{"encrypted", "x.zip", encrypted, []string{"a.md! is encrypted; pack it without a password", "b.md: bravo"}},
		{"method", "x.zip", method, []string{"a.md! is packed by an unsupported method", "b.md: bravo"}},
		{"no archive", "x.zip", []byte("hello"), []string{"! is damaged or truncated"}},
		{"no gzip", "x.gz", []byte("hello, this is text"), []string{"! is damaged (gzip: invalid header)"}},
		{
			"tar cut off", "x.tar", tarball[:2300],
			[]string{"a.md: " + strings.Repeat("alpha ", 200), "! is truncated; copy it again"},
		},
		{"tar cut off in a member", "x.tar", tarball[:700], []string{"! is truncated; copy it again"}},
		{"gzip cut off", "x.tgz", packed[:len(packed)/2], []string{"! is truncated; copy it again"}},
		{
			"gzip checksum", "a.md.gz", damage(gzipOf(t, []byte("hello")), len(gzipOf(t, []byte("hello")))-8),
			[]string{"! is damaged (gzip: invalid checksum)"},
		},
		{"zstd", "a.md.zst", []byte("\x28\xb5\x2f\xfd\xff\xff"), []string{"! is "}},
	} {
		got := readLines(t, File{Name: x.file, Data: x.data}, Options{})
		ok := len(got) == len(x.want)
		for i := range x.want {
			ok = ok && strings.HasPrefix(got[i], x.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// nested returns a zip of n zips of n zips … of zeros.
func nested(tb testing.TB, depth, n int) []byte {
	if depth == 0 {
		return zipOf(tb, member{"zeros.txt", strings.Repeat("0", 1<<20)})
	}
	inner := string(nested(tb, depth-1, n))
	members := make([]member, n)
	for i := range members {
		members[i] = member{fmt.Sprintf("%d.zip", i), inner}
	}
	return zipOf(tb, members...)
}

// zeroMembers returns n members of one mebibyte, which compress to a thousandth.
func zeroMembers(n int) []member {
	members := make([]member, n)
	for i := range members {
		members[i] = member{fmt.Sprintf("%d.txt", i), strings.Repeat("0", 1<<20)}
	}
	return members
}

// TestBombs reads decompression bombs. Each fails with its reason, within the memory limits.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	zeros := make([]byte, 20<<20)
	var many bytes.Buffer
	header := tarOf(t, []tar.Header{{Name: "a.md"}})[:tarBlock]
	for range 210_000 {
		many.Write(header)
	}
	hidden := bytes.ReplaceAll(many.Bytes(), []byte("a.md"), []byte(".amd"))
	entries := bytes.Repeat([]byte("PK\x01\x02"+strings.Repeat("\x00", 42)), 300_000)
	sparse := tarOf(t, []tar.Header{{Name: "a.md", Format: tar.FormatPAX, PAXRecords: map[string]string{
		"XXX.sparse.map": "0,1", "XXX.sparse.numblocks": "1", "XXX.sparse.size": "60000000", "XXX.sparse.name": "a.md",
	}}}, "x")
	small := Options{MaxExpand: 8 << 20, MaxMembers: 100}
	for _, x := range []struct {
		name, file string
		data       []byte
		o          Options
		reason     string
	}{
		{"zip of zips", "x.zip", nested(t, 2, 10), small, "unpacks to more than 8388608 bytes"},
		{"too deep", "x.zip", nested(t, 3, 1), small, "is nested more than 3 deep"},
		{"zeros in gzip", "x.gz", gzipOf(t, zeros), Options{}, "unpacks to more than 50 times its size"},
		{"zeros in gzip, small", "x.gz", gzipOf(t, zeros), small, "unpacks to more than 8388608 bytes"},
		{"zeros in zstd", "x.zst", zstdOf(t, zeros), Options{}, "unpacks to more than 50 times its size"},
		{
			"zeros in zip", "x.zip", zipOf(t, member{"z.txt", string(zeros)}),
			Options{},
			"unpacks to more than 50 times its size",
		},
		{
			"many members of zeros", "x.zip", zipOf(t, zeroMembers(40)...),
			Options{},
			"unpacks to more than 50 times its size",
		},
		{"zip of zips of zeros", "x.zip", nested(t, 2, 10), Options{}, "unpacks to more than 50 times its size"},
		{
			"large member", "x.zip", zipOf(t, member{"z.txt", string(zeros[:2000])}),
			Options{MaxMember: 1000},
			"the limit for a file inside another is 1000",
		},
		{"slow members", "x.zip", zipOf(t, member{"1.md", strings.Repeat("a b ", 1<<18)}, member{"2.md", ""},
			member{"3.md", ""}), Options{Timeout: time.Nanosecond}, "takes longer than 20ns to read; unpack it"},
		{
			"members", "x.zip", zipOf(t, member{"1.md", ""}, member{"2.md", ""}, member{"3.md", ""}),
			Options{MaxMembers: 2},
			"holds more than 2 files",
		},
		{"tar of 210,000 entries", "x.tar", many.Bytes(), Options{}, "holds more than 10000 files"},
		{"tar of 210,000 hidden entries", "x.tar", hidden, Options{MaxMembers: 1000}, "holds more than 20001 entries"},
		{
			"list of 300,000 files", "x.zip", append([]byte("PK\x03\x04"), entries...),
			Options{},
			"lists 300000 files; the limit is 200000",
		},
		{
			"sparse", "x.tar", bytes.ReplaceAll(sparse, []byte("XXX.sparse"), []byte("GNU.sparse")),
			Options{},
			"is a sparse file",
		},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		lines := readLines(t, File{Name: x.file, Data: x.data}, x.o)
		reasons := strings.Join(lines[max(0, len(lines)-3):], "\n")
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if !strings.Contains(reasons, x.reason) {
			t.Errorf("%s: %.300q, want %q", x.name, reasons, x.reason)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 600 {
			t.Errorf("%s allocates %d MB", x.name, mb)
		} else {
			t.Logf("%s: %v, %d MB allocated", x.name, took, mb)
		}
	}
}

// typedZip returns an archive that begins with its type, and has an empty member.
func typedZip(t *testing.T, mime, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "mimetype", Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(w, mime)
	}
	if err == nil {
		_, err = z.Create(name)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestZipKind(t *testing.T) {
	docx := zipOf(t, member{"[Content_Types].xml", "<Types/>"}, member{"word/document.xml", "<w/>"})
	if got := zipKind(docx); !strings.HasSuffix(got, "wordprocessingml.document") {
		t.Errorf("a document of Word is %q", got)
	}
	if got := zipKind(typedZip(t, "application/epub+zip", "META-INF/container.xml")); got != "application/epub+zip" {
		t.Errorf("a book is %q", got)
	}
	if got := zipKind(zipOf(t, member{"a.md", "a"})); got != "" {
		t.Errorf("an archive is %q", got)
	}
}

func TestArchiveCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range Read(ctx,
		File{Name: "x.zip", Data: zipOf(t, member{"a.md", "a"}, member{"b.md", "b"}, member{"c.md", "c"})}, Options{}) {
		if n++; n == 1 {
			cancel()
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the context: %v", err)
		}
	}
	n = 0
	for range Read(t.Context(), File{Name: "x.zip", Data: zipOf(t, member{"a.md", "a"}, member{"b.md", "b"})},
		Options{}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d texts after the consumer had enough", n)
	}
}

// checkRead reads a file of arbitrary content and checks the general guarantees.
func checkRead(t *testing.T, f File) {
	o := Options{MaxText: 1 << 20, MaxExpand: 1 << 20, MaxMember: 1 << 20, MaxMembers: 50, Timeout: 5 * time.Second}
	texts, bytes := 0, 0
	for x, err := range Read(t.Context(), f, o) {
		if texts++; texts > 60*maxEntries {
			t.Fatal("more texts than members")
		}
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Fatalf("reason %q", err)
			}
			continue
		}
		bytes += len(x.Text)
		if !utf8.ValidString(x.Text) || !utf8.ValidString(x.Title) || !utf8.ValidString(x.Path) ||
			strings.HasPrefix(x.Text, "\ufeff") {
			t.Fatalf("%q of %q", x.Text, x.Path)
		}
	}
	if bytes > 64*len(f.Data)+4*int(o.MaxExpand) {
		t.Fatalf("%d bytes become %d", len(f.Data), bytes)
	}
}

func FuzzZip(f *testing.F) {
	f.Add("x.zip", zipOf(f, member{"a.md", "# A"}, member{"b.html", "<p>b"}))
	f.Add("x.tgz", gzipOf(f, tarOf(f, []tar.Header{{Name: "a.md"}}, "a")))
	f.Add("x.tar", tarOf(f, []tar.Header{{Name: "a.md"}}, "a"))
	f.Add("x.zst", zstdOf(f, []byte("a")))
	f.Add("x.zip", nested(f, 1, 2))
	f.Fuzz(func(t *testing.T, name string, data []byte) { checkRead(t, File{Name: name, Data: data}) })
}

// TestOldZipNames decodes names without the UTF-8 flag: code page 437, or a clearly national encoding.
func TestOldZipNames(t *testing.T) {
	b := zipOf(t, member{"Gr\x81n.md", "a"}, member{"\u202egnp.md", "b"})
	want := []string{"Grün.md: a", "\u202egnp.md! has a control character in its name"}
	if got := readLines(t, File{Name: "a.zip", Data: b}, Options{}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
