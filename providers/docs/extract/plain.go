package extract

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// readPlain reads a file that is already text.
func readPlain(f File) (Text, error) {
	s, charset, err := decodeText(f.Data, f.MIME)
	t := Text{Text: s}
	t.setMeta(MetaCharset, charset)
	return t, err
}

func decodeUTF16(b []byte, order binary.ByteOrder) (string, error) {
	if len(b)%2 != 0 {
		return "", refuse("is truncated UTF-16; copy it again")
	}
	var out strings.Builder
	out.Grow(len(b))
	for i := 0; i+1 < len(b); i += 2 {
		r := rune(order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			if i += 2; i+1 >= len(b) {
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
