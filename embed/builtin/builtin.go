// Package builtin opens by name the embedders that need no service.
package builtin

import (
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/minilm"
	"github.com/ragctx/ragctx/embed/static"
)

const (
	// DefaultName is the name of a new data directory's embedder.
	DefaultName = staticName
	// TablePrefix precedes the path of a table in names for [OpenLocal].
	TablePrefix = static.NamePrefix
	// ModelPrefix precedes the directory of a model in names for [OpenLocal].
	ModelPrefix = minilm.NamePrefix
)

const (
	autoName    = "auto"
	staticName  = "static"
	modelName   = "minilm"
	hashingName = "hashing"
)

// Default returns the embedder of a new data directory.
func Default() embed.Embedder { return static.Default() }

// Open returns an embedder by name: "static" for the built-in table, "minilm" for the built-in
// model, "auto" for the table at once and the model in the background, "hashing", or "hashing/N" for N
// components. Other names are [ragctx.ErrInvalid].
func Open(name string) (embed.Embedder, error) {
	switch name {
	case autoName:
		return auto{}, nil
	case staticName:
		return static.Default(), nil
	case modelName:
		return minilm.Default(), nil
	}
	base, size, sized := strings.Cut(name, "/")
	switch {
	case NamesPath(name):
		return nil, ragctx.Invalid("embedder",
			"%q names a path; that is for the command line and its setting embedder, not for requests", ragctx.Clip(name))
	case base != hashingName:
		return nil, ragctx.Invalid("embedder", "%q is unknown; use %q, %q, %q, %q, or %q for another number of dimensions",
			ragctx.Clip(name), autoName, staticName, modelName, hashingName, "hashing/512")
	case !sized:
		return embed.NewHashing(0), nil
	}
	n, err := strconv.Atoi(size)
	if err != nil || n < 1 || n > embed.MaxHashingDim {
		return nil, ragctx.Invalid("embedder", "%q needs a number of dimensions from 1 to %d after the slash",
			ragctx.Clip(name), embed.MaxHashingDim)
	}
	return embed.NewHashing(n), nil
}

// NamesPath reports whether a name has the path of a table or a model.
func NamesPath(name string) bool {
	return strings.HasPrefix(name, TablePrefix) || strings.HasPrefix(name, ModelPrefix)
}

// OpenLocal is [Open] for names given by the operator. It also accepts "static:PATH", the table in
// that file or directory (see [static.Open]), and "minilm:PATH", the model in that directory (see
// [minilm.Open]).
func OpenLocal(name string) (embed.Embedder, error) {
	if path, ok := strings.CutPrefix(name, TablePrefix); ok {
		return static.Open(path)
	}
	if path, ok := strings.CutPrefix(name, ModelPrefix); ok {
		return minilm.Open(path)
	}
	return Open(name)
}

// OpenIdentity returns the built-in embedder with an identity, or false.
func OpenIdentity(id embed.Identity) (embed.Embedder, bool) {
	if s := static.Default(); s.Identity() == id {
		return s, true
	}
	if a := (auto{}); a.Identity() == id {
		return a, true
	}
	if minilm.DefaultIdentity() == id {
		return minilm.Default(), true
	}
	if id.Name != hashingName || id.Dimensions < 1 || id.Dimensions > embed.MaxHashingDim {
		return nil, false
	}
	e := embed.NewHashing(id.Dimensions)
	return e, e.Identity() == id
}

// Successor returns the embedder that replaced a former built-in one: the built-in table, or "auto", of
// another revision. It returns false for any other identity.
func Successor(id embed.Identity) (embed.Embedder, bool) {
	for _, e := range []embed.Embedder{static.Default(), auto{}} {
		if now := e.Identity(); now.Name == id.Name {
			return e, now != id
		}
	}
	return nil, false
}
