package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/redact"
)

// visibleWriter writes to a terminal, with control characters and invisible characters as escapes,
// which mean the same in JSON. So the texts of others cannot control the terminal.
type visibleWriter struct {
	terminal *os.File
	rest     []byte // an incomplete character
}

// terminalWriter returns the writer for the output of commands: a visibleWriter for a terminal, or else
// out itself. flush writes an incomplete character.
func terminalWriter(out io.Writer) (w io.Writer, flush func()) {
	f, ok := out.(*os.File)
	if !ok || !isCharacterDevice(f) {
		return out, func() {}
	}
	v := &visibleWriter{terminal: f}
	return v, func() { _, _ = io.WriteString(f, escaped(string(v.rest))) } // the program ends anyway
}

// isCharacterDevice reports whether a file is a terminal of any kind.
func isCharacterDevice(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Write implements [io.Writer].
func (w *visibleWriter) Write(p []byte) (int, error) {
	text := slices.Concat(w.rest, p)
	whole := len(text)
	for whole > 0 && len(text)-whole < utf8.UTFMax && !utf8.RuneStart(text[whole-1]) {
		whole--
	}
	if whole > 0 && utf8.RuneStart(text[whole-1]) && !utf8.FullRune(text[whole-1:]) {
		whole--
	} else {
		whole = len(text)
	}
	w.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(w.terminal, escaped(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// The escapes that commands write; see [paint].
const (
	boldOn  = "\x1b[1m"
	boldOff = "\x1b[0m"
)

// escaped returns text with escapes for control characters and invisible characters.
func escaped(text string) string {
	if strings.IndexFunc(text, needsEscape) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case strings.HasPrefix(text, boldOn) || strings.HasPrefix(text, boldOff):
			size = len(boldOn)
			b.WriteString(text[:size])
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case strings.HasPrefix(text, "\r\n"):
		case needsEscape(r) && r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		case needsEscape(r):
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// needsEscape reports whether a terminal would act on r, or show nothing.
func needsEscape(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < utf8.RuneSelf:
		return unicode.IsControl(r)
	case r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f': // scripts and emoji need them
		return false
	}
	_, hidden := redact.Visible("a" + string(r))
	return hidden > 0 || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}
