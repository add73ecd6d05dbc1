package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// localTime writes a time for people, by the clock on their wall, which the zone names.
func localTime(t time.Time) string {
	return t.Local().Format(time.DateTime + " MST") //nolint:gosmopolitan // times are those of who asks
}

// amount writes how many there are of something: 1 message, 2 messages.
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
