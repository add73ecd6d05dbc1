package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"strings"
)

// maxPart bounds a part that is read as a whole: relations, styles, a list of chapters.
const maxPart = 16 << 20

// maxPartRatio bounds the compression ratio of a document's XML.
const maxPartRatio = 100

// errNoPart reports a missing part. Most parts are optional.
var errNoPart = errors.New("part is missing")

// parts gives access to the files in a zip package, such as a Word document. All unpacked bytes
// count against one budget, so many small bombs count as one.
type parts struct {
	files map[string]*zip.File // by partKey
	limit int64
	left  int64
}

// openParts reads the directory of a package.
func openParts(data []byte, o Options) (*parts, error) {
	// The zip reader allocates about 300 bytes per entry before any check.
	if n := bytes.Count(data, []byte(zipEntry)); n > maxEntries*o.MaxMembers {
		return nil, refuse("lists %d files; the limit is %d", n, maxEntries*o.MaxMembers)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, refuse("is not a complete zip archive (%v); get it again", err)
	}
	if len(z.File) > o.MaxMembers {
		return nil, refuse("holds %d files; the limit is %d", len(z.File), o.MaxMembers)
	}
	p := &parts{files: make(map[string]*zip.File, len(z.File)), limit: o.MaxExpand, left: o.MaxExpand}
	for _, f := range z.File {
		if k := partKey(f.Name); p.files[k] == nil {
			p.files[k] = f // of duplicate names, other readers use the first
		}
	}
	return p, nil
}

// partKey normalizes a part's name: lower case, slashes, relative to the root of the package and
// never outside it.
func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

func (p *parts) has(name string) bool { return p.files[partKey(name)] != nil }

// open opens a part. The caller must close it.
func (p *parts) open(name string) (io.ReadCloser, error) {
	f := p.files[partKey(name)]
	if f == nil {
		return nil, errNoPart
	}
	if f.Flags&1 != 0 {
		return nil, refuse("is protected by a password; save it without")
	}
	// An honest bomb is rejected by its declared size; a lying one is detected by partReader.
	left := uint64(max(p.left, 0)) //nolint:gosec // not negative
	if n := f.UncompressedSize64; n > left && n > maxPartRatio*f.CompressedSize64 {
		return nil, refuse("unpacks to more than %d bytes; split the file", p.limit)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, refuse("its part %s cannot be unpacked (%v); save it again", f.Name, err)
	}
	return &partReader{parts: p, name: f.Name, rc: rc}, nil
}

// openXML opens a part as XML. The caller must close it.
func (p *parts) openXML(ctx context.Context, name string) (*xmlScanner, error) {
	rc, err := p.open(name)
	if err != nil {
		return nil, err
	}
	return newXMLScanner(ctx, rc, name), nil
}

// read returns a part of at most maxPart bytes.
func (p *parts) read(name string) ([]byte, error) {
	rc, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, maxPart+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxPart {
		return nil, refuse("its part %s is larger than %d bytes", name, maxPart)
	}
	return b, nil
}

// partReader counts the unpacked bytes.
type partReader struct {
	parts *parts
	name  string
	rc    io.ReadCloser
}

func (r *partReader) Read(b []byte) (int, error) {
	if r.parts.left <= 0 {
		return 0, refuse("unpacks to more than %d bytes; split the file", r.parts.limit)
	}
	n, err := r.rc.Read(b[:min(int64(len(b)), r.parts.left)])
	r.parts.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = refuse("its part %s is damaged (%v); get it again", r.name, err)
	}
	return n, err
}

func (r *partReader) Close() error { return r.rc.Close() }
