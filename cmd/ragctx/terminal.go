package main

import (
	"io"
	"os"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8/cwriter"
)

// isTerminal reports whether w is a terminal that understands cursor movement.
func isTerminal(w io.Writer, env lookupEnv) bool {
	f := fileOf(w)
	if f == nil {
		return false
	}
	if term, _ := env("TERM"); term == "dumb" {
		return false
	}
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// fileOf returns the file that w writes to, or nil.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *os.File:
		return w
	case *visibleWriter:
		return w.terminal
	}
	return nil
}

// paint returns a function that makes text bold on a terminal. Elsewhere, and with NO_COLOR
// (https://no-color.org), it returns the text.
func paint(w io.Writer, env lookupEnv) func(string) string {
	plain, _ := env("NO_COLOR")
	if plain != "" || !isTerminal(w, env) {
		return func(s string) string { return s }
	}
	return func(s string) string { return boldOn + s + boldOff }
}

// widthOf returns the width of a terminal in characters; 0 if w is none.
func widthOf(w io.Writer, env lookupEnv) int {
	if !isTerminal(w, env) {
		return 0
	}
	width, _, err := cwriter.GetSize(int(fileOf(w).Fd())) //nolint:gosec // descriptors are small
	if err != nil {
		return 0
	}
	return width
}

// fitted cuts a line to the width of a terminal; 0 is no terminal. Wide characters count as one.
func fitted(line string, width int) string {
	if width == 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}
