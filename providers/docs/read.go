package docs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// File is a file that a walk found.
type File struct {
	// ExternalID is the slash-separated path relative to the root, for a root
	// that is a file its name.
	ExternalID string
	Path       string // as the operating system takes it
	MIME       string // by extension; empty if unknown
	Info       fs.FileInfo

	limit int64
}

// Skip says why a file was left out. It is the error of [Walk] and [File.Read]
// that concerns one file only.
type Skip struct {
	Path, Reason string
}

// Error implements error.
func (s *Skip) Error() string { return s.Path + ": " + s.Reason }

// Read returns the file as a document: UTF-8 as it is, UTF-16 with a byte order
// mark decoded, the mark removed. The error is a [*Skip] if the file is too
// large, binary, not text in these encodings, or cannot be read.
//
// Occurred stays zero: the time of a file says when it was copied, not when
// what it tells happened, and a fresh checkout must not look like new content.
func (f File) Read() (Document, error) {
	b, err := readRegular(f.Path, f.limit)
	if err != nil {
		return Document{}, &Skip{f.Path, reason(err)}
	}
	text, err := Decode(b)
	if err != nil {
		return Document{}, &Skip{f.Path, err.Error()}
	}
	return Document{ExternalID: f.ExternalID, Source: "file:" + f.ExternalID, MIME: f.MIME, Text: text}, nil
}

// readRegular reads a file of at most limit bytes. It does not follow links and
// does not open pipes and devices, which could block.
func readRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no longer a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = tooBig(int64(len(b)), limit)
	}
	return b, err
}

func tooBig(size, limit int64) error {
	return fmt.Errorf("is %d bytes or more; the limit is %d: split the file", size, limit)
}

// Decode returns a file's content as UTF-8: UTF-16 with a byte order mark is
// decoded, the mark removed. What is binary or in another encoding is an error.
func Decode(b []byte) (string, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return decodeUTF16(b[2:], binary.LittleEndian)
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return decodeUTF16(b[2:], binary.BigEndian)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if bytes.IndexByte(b[:min(len(b), 8<<10)], 0) >= 0 {
		return "", errors.New("is binary")
	}
	if !utf8.Valid(b) {
		return "", errors.New("is not UTF-8; convert it")
	}
	return string(b), nil
}

func decodeUTF16(b []byte, order binary.ByteOrder) (string, error) {
	if len(b)%2 != 0 {
		return "", errors.New("is cut-off UTF-16")
	}
	var out strings.Builder
	out.Grow(len(b))
	for i := 0; i < len(b); i += 2 {
		r := rune(order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			if i += 2; i >= len(b) {
				return "", errors.New("is not UTF-16; convert it to UTF-8")
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(b[i:]))); r == utf8.RuneError {
				return "", errors.New("is not UTF-16; convert it to UTF-8")
			}
		}
		if r == 0 {
			return "", errors.New("is binary")
		}
		out.WriteRune(r)
	}
	return out.String(), nil
}

// reason is an error's text without the path, which a Skip already names.
func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return err.Error()
}
