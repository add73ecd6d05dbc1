package extract

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain reads a file that is text already.
func plain(f File) (Text, error) {
	s, err := decode(f.Data)
	return Text{Text: s}, err
}

// decode returns a file's content as UTF-8: UTF-16 with a byte order mark is
// decoded, the mark removed. What is binary or in another encoding is an error.
func decode(b []byte) (string, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return decodeUTF16(b[2:], binary.LittleEndian)
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return decodeUTF16(b[2:], binary.BigEndian)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if bytes.IndexByte(b[:min(len(b), 8<<10)], 0) >= 0 {
		return "", refuse("is binary")
	}
	if !utf8.Valid(b) {
		return "", refuse("is not UTF-8; convert it")
	}
	return string(b), nil
}

func decodeUTF16(b []byte, order binary.ByteOrder) (string, error) {
	if len(b)%2 != 0 {
		return "", refuse("is cut-off UTF-16")
	}
	var out strings.Builder
	out.Grow(len(b))
	for i := 0; i < len(b); i += 2 {
		r := rune(order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			if i += 2; i >= len(b) {
				return "", refuse("is not UTF-16; convert it to UTF-8")
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(b[i:]))); r == utf8.RuneError {
				return "", refuse("is not UTF-16; convert it to UTF-8")
			}
		}
		if r == 0 {
			return "", refuse("is binary")
		}
		out.WriteRune(r)
	}
	return out.String(), nil
}
