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

// paint returns a func that makes text stand out on w: bold on a terminal, the
// text itself elsewhere and when NO_COLOR is set (https://no-color.org).
func paint(w io.Writer, env lookupEnv) func(string) string {
	plain, _ := env("NO_COLOR")
	if plain != "" || !isTerminal(w, env) {
		return func(s string) string { return s }
	}
	return func(s string) string { return boldOn + s + boldOff }
}

// widthOf returns how many characters a line of w has if it is a terminal, and else 0.
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

// fitted cuts a line that is wider than a terminal; 0 is no terminal. Wide characters
// count once.
func fitted(line string, width int) string {
	if width == 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}
