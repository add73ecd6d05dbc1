package mcp

import (
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// Limits of max_tokens. It counts the whole answer as JSON.
const (
	minTokens      = 200
	maxTokens      = 200_000
	fallbackTokens = 4000
)

// sized is the argument that limits the size of an answer.
type sized struct {
	MaxTokens int `json:"max_tokens,omitempty" jsonschema:"of the answer"`
}

func (p properties) maxTokens(fallback float64) {
	p.between("max_tokens", minTokens, maxTokens, fallback)
}

// cost counts the tokens of an answer in the longer of its two forms, structured content and text.
func (s *Server) cost(out any) (int, error) {
	c, err := s.counter()
	if err != nil {
		return 0, err
	}
	b, err := encode(out)
	if err != nil {
		return 0, err
	}
	n := c.Count(string(b))
	if p, ok := out.(plain); ok {
		n = max(n, c.Count(p.text()))
	}
	return n, nil
}

// fitList returns the answer with as many of the first n elements as fit. build returns the answer
// with k of them.
func fitList[Out any](s *Server, limit, n int, build func(k int) Out) (Out, error) {
	k, err := fitting(s, limit, n, build)
	if err != nil || k > 0 || n == 0 {
		return build(k), err
	}
	cost, err := s.cost(build(1))
	if err != nil {
		return build(0), err
	}
	return build(0), ragctx.Invalid("max_tokens", "is %d, but the next result needs %d; use at least that", limit, cost)
}

// fitOne is [fitList], but if not even the first element fits, it shortens the text that text
// points to. build reads that text.
func fitOne[Out any](s *Server, limit, n int, build func(k int) Out, text func() *string) (Out, error) {
	k, err := fitting(s, limit, n, build)
	if err != nil || k > 0 || n == 0 {
		return build(k), err
	}
	part := text()
	all := *part
	cut, _, err := fitText(s, limit, all, func(n int) Out {
		*part = all[:n]
		return build(1)
	})
	return cut, err
}

// fitting returns how many of the first n elements fit.
func fitting[Out any](s *Server, limit, n int, build func(k int) Out) (int, error) {
	low, high := 0, n // low is known to fit, high may fit
	for low < high {
		mid := (low + high + 1) / 2
		cost, err := s.cost(build(mid))
		if err != nil {
			return 0, err
		}
		if cost <= limit {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
}

// bytesPerToken is the approximate length of an English token. A page of a text is limited to this
// many bytes per token.
const bytesPerToken = 5

// fitText returns the answer with the longest fitting prefix of a text, and the length of that
// prefix. build returns the answer with n bytes.
func fitText[Out any](s *Server, limit int, text string, build func(n int) Out) (Out, int, error) {
	n := boundary(text, limit*bytesPerToken)
	for {
		out := build(n)
		cost, err := s.cost(out)
		if err != nil || cost <= limit {
			return out, n, err
		}
		if n == 0 {
			return out, 0, ragctx.Invalid("max_tokens", "is %d, but the answer without any text needs %d; use "+
				"more than that", limit, cost)
		}
		// Token density varies, so take slightly less than the proportional share.
		next := boundary(text, int(float64(n)*float64(limit)/float64(cost)*0.95)-1)
		n = min(next, n-1)
		n = wholeRunes(text, n)
	}
}

// boundary returns where to cut a text within n bytes: after a line, if one ends in the last fifth.
func boundary(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	n = wholeRunes(text, max(n, 0))
	if i := strings.LastIndexByte(text[:n], '\n') + 1; i > n-n/5 {
		return i
	}
	return n
}

// wholeRunes returns n, or slightly less so as not to split a character.
func wholeRunes(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
