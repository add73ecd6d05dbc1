package main

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// isTerminal reports whether w is a terminal that understands cursor movement.
func isTerminal(w io.Writer, env lookupEnv) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	if term, _ := env("TERM"); term == "dumb" {
		return false
	}
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// paint returns a func that makes text stand out on w: bold on a terminal, the
// text itself elsewhere and when NO_COLOR is set (https://no-color.org).
func paint(w io.Writer, env lookupEnv) func(string) string {
	plain, _ := env("NO_COLOR")
	if plain != "" || !isTerminal(w, env) {
		return func(s string) string { return s }
	}
	return func(s string) string { return "\x1b[1m" + s + "\x1b[0m" }
}
