// Package tokens counts tokens as model families do. It works offline: the vocabularies are part of
// the binary.
//
// o200k_base and cl100k_base are exact byte-pair encodings. chars4, claude and gemini are estimates
// for models without a public vocabulary. All of them take time linear in the text, up to a
// logarithmic factor, for any input.
//
// Text that looks like a special token, such as <|endoftext|>, is counted as ordinary text. Every
// byte that is not valid UTF-8 counts as U+FFFD, which is also sent to models in its place.
package tokens

import (
	"slices"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
)

// counters lists the counters in the order of Names.
var counters = []struct {
	name string
	open func() (ragctx.Counter, error)
}{
	{"o200k_base", exact(o200k)},
	{"cl100k_base", exact(cl100k)},
	{"chars4", func() (ragctx.Counter, error) { return chars4{}, nil }},
	{"claude", newClaude},
	{"gemini", newGemini},
}

// A vocabulary takes tens of milliseconds to load and megabytes of memory, so each is loaded once,
// when a counter first needs it.
var (
	o200k = sync.OnceValues(func() (*bpe, error) {
		return newBPE("o200k_base", o200kFile, (*classes).o200k)
	})
	cl100k = sync.OnceValues(func() (*bpe, error) {
		return newBPE("cl100k_base", cl100kFile, (*classes).cl100k)
	})
)

// Names returns the names that New accepts, exact counters first. The caller owns the slice.
func Names() []string {
	names := make([]string, len(counters))
	for i, c := range counters {
		names[i] = c.name
	}
	return names
}

// New returns the counter with the given name. The first call that needs a vocabulary loads it;
// later calls share it. An unknown name is an [ragctx.ErrInvalid] that lists the names.
func New(name string) (ragctx.Counter, error) {
	for _, c := range counters {
		if c.name == name {
			return c.open()
		}
	}
	return nil, Check(name)
}

// Check returns the error that New would return for name, without loading a vocabulary.
func Check(name string) error {
	names := Names()
	if slices.Contains(names, name) {
		return nil
	}
	return ragctx.Invalid("tokenizer", "%q is unknown; use one of %s", ragctx.Clip(name), strings.Join(names, ", "))
}

// exact keeps a nil *bpe from becoming a non-nil interface.
func exact(load func() (*bpe, error)) func() (ragctx.Counter, error) {
	return func() (ragctx.Counter, error) {
		b, err := load()
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}
