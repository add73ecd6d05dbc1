package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// localTime formats a time in the local time zone, with the zone's name.
func localTime(t time.Time) string {
	return t.Local().Format(time.DateTime + " MST") //nolint:gosmopolitan // times are those of who asks
}

// amount returns a count with its noun: 1 message, 2 messages, 2 memories, 2 indexes.
func amount[N int | int64](n N, noun string) string {
	stem, isY := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
	case isY:
		noun = stem + "ies"
	case strings.HasSuffix(noun, "x"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}

// textArg returns a command's text: the argument, or standard input for "-".
func textArg(arg string, stdin io.Reader, limit int) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(stdin, int64(limit)+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if len(b) > limit {
		return "", ragctx.TooLarge("standard input", "has more than %d bytes", limit)
	}
	return strings.TrimSpace(string(b)), nil
}

// show prints a list unless there is an error.
func show[T any](w io.Writer, asJSON bool, list []T, err error, table func(io.Writer, []T) error) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return writeJSON(w, list)
	case len(list) == 0:
		return nil
	}
	return table(w, list)
}
