package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

// assetsRoot is the path of the files. A file's path has a hash of its content, so that browsers keep it
// until it changes.
const assetsRoot = root + "/assets/"

type asset struct {
	path string
	data []byte
}

// readAssets returns the files by name.
var readAssets = sync.OnceValue(func() map[string]asset {
	all := make(map[string]asset)
	entries, _ := assets.ReadDir("assets") // embedded: cannot fail
	for _, e := range entries {
		data, _ := fs.ReadFile(assets, "assets/"+e.Name())
		name, packed := strings.CutSuffix(e.Name(), ".gz")
		if packed {
			data = unpacked(data)
		}
		sum := sha256.Sum256(data)
		all[name] = asset{assetsRoot + hex.EncodeToString(sum[:6]) + "/" + name, data}
	}
	return all
})

// unpacked returns the content of a packed file.
func unpacked(data []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		panic(err) // an embedded file that any test reads
	}
	return data
}

func assetPath(name string) string { return readAssets()[name].path }

func assetHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, assetsRoot), "/")
		a, ok := readAssets()[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == a.path {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = w.Write(a.data) // a visitor who is gone needs no file
	})
}
