// Package local keeps the indexes of all collections in the files of a directory.
package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword"
	"github.com/ragctx/ragctx/index/vector"
)

// Opener opens indexes below Dir, each in a directory of its own.
type Opener struct {
	Dir string
	// Graph is the kind of vector index; see [vector.Options].
	Graph  string
	Logger *slog.Logger // nil is silent
}

var _ index.Opener = Opener{}

// vectorPrefix begins the name of a directory of vectors; the embedding space's name follows.
const vectorPrefix = "vector-"

func (l Opener) dir(c index.Collection) string {
	return filepath.Join(l.Dir, fmt.Sprintf("%d-%s", c.Namespace, c.Kind))
}

// Open implements [index.Opener]. The engine is an [index.Hybrid].
func (l Opener) Open(ctx context.Context, o index.Opening) (index.Engine, error) {
	log := l.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dir := l.dir(o.Collection)
	h, err := index.Open(ctx, index.Options{
		Dir: dir, Feed: o.Feed, Space: o.Space, Origin: o.Origin, Knows: o.Knows, Monitor: o.Monitor,
		Keyword: func(context.Context) (index.KeywordIndex, error) {
			return keyword.Open(filepath.Join(dir, "keyword"), keyword.Options{Origin: o.Origin, Knows: o.Knows, Logger: log})
		},
		Vector: func(_ context.Context, s index.Space) (index.VectorIndex, error) {
			return vector.New(vector.Options{
				Dir: filepath.Join(dir, vectorPrefix+s.Name), Graph: l.Graph,
				Dimensions: s.Dimensions, Identity: s.Identity, Interim: s.Interim, Origin: o.Origin, Knows: o.Knows, Logger: log,
			})
		},
		Logger: log.With("namespace", o.Namespace, "kind", o.Kind),
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Drop implements [index.Opener].
func (l Opener) Drop(_ context.Context, c index.Collection) error { return os.RemoveAll(l.dir(c)) }

// vectorDirs returns the directories of vectors, relative to Dir.
func (l Opener) vectorDirs() ([]string, error) {
	return fs.Glob(os.DirFS(l.Dir), "*/"+vectorPrefix+"*")
}

// KeepSpace implements [index.Opener].
func (l Opener) KeepSpace(_ context.Context, name string) error {
	dirs, err := l.vectorDirs()
	errs := []error{err}
	for _, dir := range dirs {
		if dir = filepath.FromSlash(dir); filepath.Base(dir) != vectorPrefix+name {
			errs = append(errs, os.RemoveAll(filepath.Join(l.Dir, dir)))
		}
	}
	return errors.Join(errs...)
}

// Newest implements [index.Opener].
func (l Opener) Newest(context.Context) (newest uint64, name string, err error) {
	dirs, err := l.vectorDirs()
	for _, dir := range dirs {
		if has := vector.Cursor(filepath.Join(l.Dir, filepath.FromSlash(dir))); has > newest {
			newest, name = has, dir
		}
	}
	return newest, name, err
}

// Size implements [index.Opener].
func (l Opener) Size(context.Context) (bytes int64, err error) {
	err = filepath.WalkDir(l.Dir, func(_ string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil && !d.IsDir() {
			if info, err = d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed during the walk
		}
		return err
	})
	return bytes, err
}
