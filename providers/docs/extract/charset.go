package extract

import (
	"bytes"
	"encoding/binary"
	"mime"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding/htmlindex"
)

// Sizes of the samples that determine an encoding.
const (
	sniffLen        = 8 << 10 // bytes checked for binary content
	declareLen      = 2 << 10 // bytes searched for a declaration
	guessLen        = 4 << 10 // bytes of non-ASCII words passed to chardet
	minGuess        = 15      // least accepted confidence of chardet, of 100
	fallbackCharset = "windows-1252"
)

// decodeText returns a file's content as UTF-8, and the name of its charset if it is not UTF-8. It
// tries, in this order: the byte order mark, the positions of zero bytes, valid UTF-8, the declared
// charset, and the statistics of the words. Binary content is an error.
func decodeText(b []byte, mimeType string) (s, charset string, err error) {
	if s, charset, err := decodeBOM(b); charset != "" {
		return s, charset, err
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	head := b[:min(len(b), sniffLen)]
	if bytes.IndexByte(head, 0) >= 0 {
		if s, charset, ok := decodeWide(b); ok {
			return s, charset, nil
		}
		return "", "", refuse("is binary%s", kindOf(b))
	}
	if countControls(head)*100 > len(head) {
		return "", "", refuse("is binary%s", kindOf(b))
	}
	declared := declaredCharset(b, mimeType)
	if strings.HasPrefix(declared, "iso-2022-") || bytes.Contains(head, []byte("\x1b$B")) ||
		bytes.Contains(head, []byte("\x1b$@")) {
		if s, ok := decodeAs(b, "iso-2022-jp"); ok {
			return s, "iso-2022-jp", nil
		}
	}
	if utf8.Valid(b) {
		return string(b), "", nil
	}
	if s, ok := repairUTF8(b); ok {
		return s, "", nil
	}
	for _, name := range []string{declared, guessCharset(b), fallbackCharset} {
		if s, ok := decodeAs(b, name); ok {
			return s, canonicalCharset(name), nil
		}
	}
	return "", "", refuse("has an unknown encoding; convert it to UTF-8")
}

// decodeBOM decodes content that begins with a byte order mark of UTF-16 or UTF-32. It returns
// charset "" if there is no mark.
func decodeBOM(b []byte) (s, charset string, err error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0}):
		s, err = decodeUTF32(b[4:], binary.LittleEndian)
		charset = "utf-32le"
	case bytes.HasPrefix(b, []byte{0, 0, 0xFE, 0xFF}):
		s, err = decodeUTF32(b[4:], binary.BigEndian)
		charset = "utf-32be"
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		s, err = decodeUTF16(b[2:], binary.LittleEndian)
		charset = "utf-16le"
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		s, err = decodeUTF16(b[2:], binary.BigEndian)
		charset = "utf-16be"
	}
	return s, charset, err
}

// decodeWide decodes UTF-16 and UTF-32 without a byte order mark. All zero bytes must stand at the
// same place of each unit. UTF-16 needs them in half of the units; otherwise the data may be words
// separated by zeros.
func decodeWide(b []byte) (s, charset string, ok bool) {
	var zeros [4]int
	head := b[:min(len(b), sniffLen)&^3]
	for i, c := range head {
		if c == 0 {
			zeros[i%4]++
		}
	}
	quarter := len(head) / 4
	var err error
	switch {
	case quarter > 0 && zeros[0] == 0 && zeros[2] == quarter && zeros[3] == quarter:
		s, err = decodeUTF32(b, binary.LittleEndian)
		charset = "utf-32le"
	case quarter > 0 && zeros[3] == 0 && zeros[0] == quarter && zeros[1] == quarter:
		s, err = decodeUTF32(b, binary.BigEndian)
		charset = "utf-32be"
	case zeros[0]+zeros[2] == 0 && zeros[1]+zeros[3] >= quarter:
		s, err = decodeUTF16(b, binary.LittleEndian)
		charset = "utf-16le"
	case zeros[1]+zeros[3] == 0 && zeros[0]+zeros[2] >= quarter:
		s, err = decodeUTF16(b, binary.BigEndian)
		charset = "utf-16be"
	}
	return s, charset, charset != "" && err == nil && plausible(s)
}

func decodeUTF32(b []byte, order binary.ByteOrder) (string, error) {
	var out strings.Builder
	out.Grow(len(b) / 4)
	for ; len(b) >= 4; b = b[4:] {
		r := rune(order.Uint32(b))
		if r == 0 || !utf8.ValidRune(r) {
			return "", refuse("is not UTF-32; convert it to UTF-8")
		}
		out.WriteRune(r)
	}
	if len(b) > 0 {
		return "", refuse("is truncated UTF-32; copy it again")
	}
	return out.String(), nil
}

// plausible reports whether s looks like text: no control characters, and few code points that
// Unicode has not assigned.
func plausible(s string) bool {
	if s == "" {
		return false
	}
	strange, n := 0, 0
	for _, r := range s {
		if n++; n > sniffLen {
			break
		}
		switch {
		case r < ' ' && !strings.ContainsRune("\t\n\r\f\x1b", r), r == utf8.RuneError:
			return false
		case !unicode.IsGraphic(r) && !unicode.IsSpace(r):
			strange++
		}
	}
	return strange*50 < n
}

// countControls counts the bytes that do not occur in text.
func countControls(b []byte) (n int) {
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b || c == 0x7f {
			n++
		}
	}
	return n
}

// repairUTF8 repairs UTF-8 that is cut off or damaged in a few places.
func repairUTF8(b []byte) (string, bool) {
	good, bad := 0, 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		i += n
	}
	if good < 20 || bad*50 > good {
		return "", false
	}
	return string(bytes.ToValidUTF8(b, []byte("\ufffd"))), true
}

var (
	charsetInMarkup = regexp.MustCompile(`(?i)(?:charset|encoding)\s*=\s*["']?\s*([-\w:.]+)`)
	charsetInCookie = regexp.MustCompile(`^[^\n]*?coding[:=][ \t]*([-\w.]+)|^[^\n]*\n[^\n]*?coding[:=][ \t]*([-\w.]+)`)
)

// declaredCharset returns the charset named by the MIME type, the markup or the first lines, or "".
func declaredCharset(b []byte, mimeType string) string {
	if _, params, err := mime.ParseMediaType(mimeType); err == nil && params["charset"] != "" {
		return strings.ToLower(params["charset"])
	}
	head := b[:min(len(b), declareLen)]
	re := charsetInCookie
	if trimmed := bytes.TrimLeft(head, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '<' || trimmed[0] == '@') {
		re = charsetInMarkup
	}
	m := re.FindSubmatch(head)
	for _, name := range m[min(1, len(m)):] {
		if len(name) > 0 {
			return strings.ToLower(string(name))
		}
	}
	return ""
}

// guessCharset asks chardet, whose statistics cover the usual encodings of about thirty languages.
// Only words with non-ASCII bytes are passed; in source code the few such words would have no
// weight.
func guessCharset(b []byte) string {
	var words []byte
	for w := range bytes.FieldsSeq(b[:min(len(b), 1<<20)]) {
		if bytes.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) {
			words = append(append(words, w[:min(len(w), guessLen)]...), ' ')
		}
		if len(words) > guessLen {
			break
		}
	}
	r, err := chardet.NewTextDetector().DetectBest(words)
	if err != nil || r == nil || r.Confidence < minGuess {
		return fallbackCharset
	}
	if r.Charset == "KOI8-R" {
		return "koi8-u" // KOI8-R plus the Ukrainian letters
	}
	return strings.ToLower(r.Charset)
}

// decodeAs decodes b. It returns false if the charset is unknown or many characters are undefined
// in it.
func decodeAs(b []byte, name string) (string, bool) {
	e, err := htmlindex.Get(name)
	if name == "" || err != nil {
		return "", false
	}
	if n, err := htmlindex.Name(e); err != nil || n == "utf-8" || n == "replacement" || strings.HasPrefix(n, "utf-16") {
		return "", false
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return "", false
	}
	bad := bytes.Count(out, []byte("\ufffd"))
	return string(out), bad*200 <= utf8.RuneCount(out)-bad
}

func canonicalCharset(name string) string {
	if e, err := htmlindex.Get(name); err == nil {
		if n, err := htmlindex.Name(e); err == nil {
			return n
		}
	}
	return name
}
