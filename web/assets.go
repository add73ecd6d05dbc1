package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
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
		sum := sha256.Sum256(data)
		all[e.Name()] = asset{assetsRoot + hex.EncodeToString(sum[:6]) + "/" + e.Name(), data}
	}
	return all
})

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
