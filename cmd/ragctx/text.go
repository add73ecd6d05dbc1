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

// amount returns a count with its noun: 1 message, 2 messages.
func amount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
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
