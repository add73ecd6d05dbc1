package extract

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/charmap"
)

const (
	mimeZip = "application/zip"

	// maxEntries is the number of listed entries allowed per member that may be read. Entries that
	// are not read cost little.
	maxEntries = 20
	zipEntry   = "PK\x01\x02" // signature of an entry in the central directory
	tarBlock   = 512
)

// expandZip reads the members of a zip in directory order.
func expandZip(ctx context.Context, f File, in *container) error {
	// The zip reader allocates about 300 bytes per entry before any check.
	limit := maxEntries * in.opts().MaxMembers
	if n := bytes.Count(f.Data, []byte(zipEntry)); n > limit {
		return refuse("lists %d files; the limit is %d: unpack it", n, limit)
	}
	z, err := zip.NewReader(bytes.NewReader(f.Data), int64(len(f.Data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return refuse("is damaged or truncated: its list of files cannot be read (%v)", err)
	}
	for i, m := range z.File {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if strings.HasSuffix(m.Name, "/") {
			continue
		}
		if err := zipMember(m, in); err != nil || !in.more {
			return err
		}
	}
	return nil
}

// zipMember reads one member. It returns only errors that end the archive.
func zipMember(m *zip.File, in *container) error {
	name, ok, err := in.accept(zipName(m))
	if err != nil || !ok {
		return err
	}
	if reason := zipRefusal(m); reason != "" {
		in.fail(name, refuse("%s", reason))
		return nil
	}
	b, err := readZipMember(m, in)
	if errors.Is(err, errBudget) {
		return in.budgetError()
	}
	if err != nil {
		in.fail(name, in.explain(err))
		return nil
	}
	in.file(File{Name: name, Data: b})
	return nil
}

func readZipMember(m *zip.File, in *container) ([]byte, error) {
	size := int64(min(m.UncompressedSize64, 1<<62))
	if size > minRatioBytes && m.UncompressedSize64/maxRatio > m.CompressedSize64 {
		return nil, errRatio
	}
	r, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return in.read(r, size)
}

// zipName returns a member's name as UTF-8. Old archives use a national encoding.
func zipName(m *zip.File) string {
	if utf8.ValidString(m.Name) {
		return m.Name
	}
	if s, ok := decodeAs([]byte(m.Name), guessCharset([]byte(m.Name))); ok && !strings.ContainsFunc(s, isLatin1) {
		return s
	}
	s, err := charmap.CodePage437.NewDecoder().String(m.Name) // the default of the zip format
	if err != nil {
		return m.Name
	}
	return s
}

// isLatin1 reports whether r is in the Latin-1 supplement, the usual result of a wrong guess.
func isLatin1(r rune) bool { return r >= 0x80 && r < 0x100 }

func zipRefusal(m *zip.File) string {
	switch mode := m.Mode(); {
	case m.Flags&1 != 0:
		return "is encrypted; pack it without a password"
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link, which is not followed"
	case !mode.IsRegular():
		return "is not a regular file"
	case m.Method != zip.Store && m.Method != zip.Deflate:
		return "is packed by an unsupported method; pack it with deflate"
	}
	return ""
}

// zipKind returns the MIME type of a zip-based document, or "". It checks the name of the first
// member, and the directory for the main part of an Office document.
func zipKind(b []byte) string {
	const nameAt = 30
	if !bytes.HasPrefix(b, []byte("PK\x03\x04")) || len(b) < nameAt {
		return ""
	}
	if kind, ok := bytes.CutPrefix(b[nameAt:], []byte("mimetypeapplication/")); ok {
		kind, _, _ = bytes.Cut(kind[:min(len(kind), 80)], []byte("PK"))
		return "application/" + string(kind)
	}
	if !bytes.Contains(b[:min(len(b), 4<<10)], []byte("[Content_Types].xml")) {
		return ""
	}
	const office = "application/vnd.openxmlformats-officedocument."
	for _, k := range [...][2]string{
		{"word/document.xml", office + "wordprocessingml.document"},
		{"ppt/presentation.xml", office + "presentationml.presentation"},
		{"xl/workbook.xml", office + "spreadsheetml.sheet"},
	} {
		if bytes.Contains(b, []byte(k[0])) {
			return k[1]
		}
	}
	return ""
}

func expandTar(_ context.Context, f File, in *container) error {
	return tarMembers(&countingReader{in: in, r: bytes.NewReader(f.Data)}, in)
}

// tarMembers reads the members of a tar in stream order. Every byte of the stream counts as
// unpacked, including the bytes of skipped members.
func tarMembers(r io.Reader, in *container) error {
	t := tar.NewReader(r)
	for entries := 0; ; entries++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return in.explain(err)
		}
		if entries > maxEntries*in.opts().MaxMembers {
			return refuse("holds more than %d entries; unpack it", entries)
		}
		if err := tarMember(t, h, in); err != nil || !in.more {
			return err
		}
	}
}

func tarMember(t *tar.Reader, h *tar.Header, in *container) error {
	switch h.Typeflag {
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	}
	name, ok, err := in.accept(h.Name)
	if err != nil || !ok {
		return err
	}
	if err := tarRefusal(h, in); err != nil {
		in.fail(name, err)
		return nil
	}
	b, err := io.ReadAll(t) // h.Size bytes, already counted by the stream reader
	if err != nil {
		return in.explain(err)
	}
	in.file(File{Name: name, Data: b})
	return nil
}

func tarRefusal(h *tar.Header, in *container) error {
	switch {
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		return refuse("is a link, which is not followed")
	case isSparse(h):
		return refuse("is a sparse file; pack it without holes")
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeCont:
		return refuse("is a device or another special file")
	case h.Size > in.opts().MaxMember:
		return in.tooLarge(h.Size)
	}
	return nil
}

func expandGzip(_ context.Context, f File, in *container) error {
	z, err := gzip.NewReader(bytes.NewReader(f.Data))
	if err != nil {
		return in.explain(err)
	}
	return expandStream(f, z, in)
}

func expandZstd(_ context.Context, f File, in *container) error {
	z, err := zstd.NewReader(bytes.NewReader(f.Data), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderLowmem(true))
	if err != nil {
		return in.explain(err)
	}
	defer z.Close()
	return expandStream(f, z, in)
}

func expandBzip2(_ context.Context, f File, in *container) error {
	return expandStream(f, bzip2.NewReader(bytes.NewReader(f.Data)), in)
}

// expandStream reads a compressed stream: a tar, or one file whose name is f.Name without the last
// extension.
func expandStream(f File, r io.Reader, in *container) error {
	c := &countingReader{in: in, r: r}
	buffered := bufio.NewReaderSize(c, tarBlock)
	head, err := buffered.Peek(tarBlock)
	if err != nil && !errors.Is(err, io.EOF) {
		return in.explain(err)
	}
	if isTar(head) {
		return tarMembers(buffered, in)
	}
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(f.Name, `\`, "/")), path.Ext(f.Name))
	if name == "" || name == "." || name == "/" {
		name = "content"
	}
	name, ok, err := in.accept(name)
	if err != nil || !ok {
		return err
	}
	limit := in.opts().MaxMember
	b, err := io.ReadAll(io.LimitReader(buffered, limit+1))
	switch {
	case err != nil:
		return in.explain(err)
	case int64(len(b)) > limit:
		return in.tooLarge(int64(len(b)))
	}
	in.file(File{Name: name, Data: b})
	return nil
}

// isTar reports whether a block is the header of a tar's first member. The checksum field counts as
// spaces.
func isTar(head []byte) bool {
	if len(head) < tarBlock {
		return false
	}
	const at, size = 148, 8
	want, err := strconv.ParseInt(strings.Trim(string(head[at:at+size]), " \x00"), 8, 64)
	sum := int64(size * ' ')
	for i, c := range head[:tarBlock] {
		if i < at || i >= at+size {
			sum += int64(c)
		}
	}
	return err == nil && sum == want
}

// isSparse reports whether a member has holes. Holes allow any size without data.
func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return true
		}
	}
	return false
}
