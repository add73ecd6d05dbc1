package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// exportCorpus exports documents until there are enough chunks, in an order that depends only on
// their names. The queries are sentences of 6 to 15 words from them.
func exportCorpus(ctx context.Context, out string, paths []string, chunks, queries int) error {
	var all []document
	for _, p := range paths {
		read := fromFolder
		if strings.HasSuffix(p, ".tar.gz") {
			read = fromTar
		}
		found, err := read(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, d := range found {
			d.ID = filepath.Base(p) + "/" + d.ID
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b document) int {
		return cmp.Or(cmp.Compare(hash(a.ID), hash(b.ID)),
			cmp.Compare(a.ID, b.ID))
	})
	x, err := newExporter(ctx, out)
	if err != nil {
		return err
	}
	var texts []string
	for _, d := range all {
		if x.about.Chunks >= chunks {
			break
		}
		found, err := x.document(d)
		if err != nil {
			return err
		}
		texts = append(texts, found...)
	}
	if x.about.Chunks < chunks {
		return fmt.Errorf("%d documents make %d chunks, %d are wanted: name more of them", len(all), x.about.Chunks, chunks)
	}
	for i, q := range draw(texts, queries) {
		if err := x.query(strconv.Itoa(i), q, ""); err != nil {
			return err
		}
	}
	return x.finish()
}

// draw picks n sentences of the texts, the same ones every time.
func draw(texts []string, n int) []string {
	r := rand.New(rand.NewPCG(1, 8))
	seen := make(map[string]bool)
	var out []string
	for try := 0; len(out) < n && try < 100*n; try++ {
		all := slices.Collect(sentencesOf(texts[r.IntN(len(texts))]))
		if len(all) == 0 {
			continue
		}
		if q := all[r.IntN(len(all))]; !seen[q] {
			seen[q], out = true, append(out, q)
		}
	}
	return out
}

// sentencesOf yields the sentences of 6 to 15 words that are prose: they end like a sentence, and
// nine tenths of their characters are letters and spaces.
func sentencesOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			for s := sentences.FromString(strings.Join(strings.Fields(paragraph), " ")); s.Next(); {
				if q := strings.TrimSpace(s.Value()); isProse(q) && !yield(q) {
					return
				}
			}
		}
	}
}

func isProse(s string) bool {
	words := strings.Count(s, " ") + 1
	var other int
	for _, c := range s {
		if !unicode.IsLetter(c) && c != ' ' {
			other++
		}
	}
	return words >= 6 && words <= 15 && strings.ContainsAny(s[len(s)-1:], ".?!") && 10*other <= utf8.RuneCountInString(s)
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s) // a hash never fails
	return h.Sum64()
}

// wanted reports by its name whether a file is read.
func wanted(name string) bool {
	return slices.Contains([]string{".md", ".html", ".txt", ".go"}, filepath.Ext(name))
}

func fromFolder(dir string) ([]document, error) {
	var out []document
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !wanted(path) {
			return err
		}
		text, err := fs.ReadFile(root, path)
		out = append(out, document{ID: path, Text: string(text)})
		return err
	})
	return out, err
}

func fromTar(path string) ([]document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var out []document
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg || !wanted(h.Name) {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		out = append(out, document{ID: h.Name, Text: string(text)})
	}
}
