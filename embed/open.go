package embed

import (
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
)

// DefaultName names the embedder of a data directory that is new.
const DefaultName = "hashing"

// Open returns a built-in embedder by its name: "hashing", or "hashing/N" for N
// components. Other names are errors that match [ragctx.ErrInvalid].
func Open(name string) (Embedder, error) {
	base, size, sized := strings.Cut(name, "/")
	if base != "hashing" {
		return nil, ragctx.Invalid("embedder", "%q is unknown; use %q, or %q for another number of dimensions", ragctx.Clip(name), "hashing", "hashing/512")
	}
	dim := defaultHashingDim
	if sized {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 || n > maxHashingDim {
			return nil, ragctx.Invalid("embedder", "%q has no number of dimensions within 1..%d after the slash", ragctx.Clip(name), maxHashingDim)
		}
		dim = n
	}
	return NewHashing(dim), nil
}

// OpenIdentity returns the built-in embedder of an identity, and false if there
// is none.
func OpenIdentity(id Identity) (Embedder, bool) {
	if id.Name != "hashing" || id.Dimensions < 1 || id.Dimensions > maxHashingDim {
		return nil, false
	}
	e := NewHashing(id.Dimensions)
	return e, e.Identity() == id
}
