package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ragctx/ragctx"
)

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
