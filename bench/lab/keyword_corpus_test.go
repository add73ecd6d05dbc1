package main_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// unitBits is the number of low bits of a chunk id that hold the chunk's number in its text; the bits
// above hold the text's number.
const unitBits = 20

// order returns a position that does not depend on a text's meaning.
func order(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// textFile is a file of a corpus; rel is its relative path.
type textFile struct{ path, rel string }

// textFiles lists the texts below some directories, shuffled in the same order every time.
func textFiles(dirs []string) (files []textFile, err error) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if !slices.Contains([]string{".md", ".go", ".txt", ".jsonl"}, filepath.Ext(path)) {
				return nil
			}
			rel, err := filepath.Rel(dir, path)
			files = append(files, textFile{path, rel})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b textFile) int {
		return cmp.Or(cmp.Compare(order(a.rel), order(b.rel)), cmp.Compare(a.rel, b.rel))
	})
	return files, nil
}

// chunked cuts texts into chunks as an engine does.
type chunked struct {
	texts uint64
	units []index.TextChunk
	most  int
}

func (c *chunked) full() bool { return len(c.units) >= c.most }

// add adds a document, and skips invalid ones.
func (c *chunked) add(name, title, text string) {
	p, err := docs.Prepare(ragctx.Document{ExternalID: name, Title: title, Text: text}, docs.Options{})
	if err != nil || len(p.Chunks) >= 1<<unitBits {
		return
	}
	c.texts++
	for i, ch := range p.Chunks[:min(len(p.Chunks), c.most-len(c.units))] {
		c.units = append(c.units, index.TextChunk{
			ID: c.texts<<unitBits | uint64(i), Item: c.texts,
			Title: store.IndexTitle(p.Title, ch.Heading), Text: strings.Clone(ch.Text),
		})
	}
}

// read adds the contents of a file: one document, or one per line.
func (f textFile) read(full func() bool, add func(name, title, text string)) error {
	b, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	if filepath.Ext(f.rel) != ".jsonl" {
		add(f.rel, "", string(b))
		return nil
	}
	lines := bufio.NewScanner(strings.NewReader(string(b)))
	lines.Buffer(nil, len(b)+1)
	for lines.Scan() && !full() {
		var d struct {
			ID          string `json:"_id"`
			Title, Text string
		}
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return fmt.Errorf("%s: %w", f.rel, err)
		}
		add(d.ID, d.Title, d.Text)
	}
	return lines.Err()
}

// chunkTexts returns the given number of chunks of the texts below some directories.
func chunkTexts(dirs []string, most int) (chunked, error) {
	c := chunked{most: most}
	files, err := textFiles(dirs)
	for _, f := range files {
		if err != nil || c.full() {
			break
		}
		err = f.read(c.full, c.add)
	}
	if err == nil && !c.full() {
		err = fmt.Errorf("%d files make %d chunks, not %d", len(files), len(c.units), most)
	}
	return c, err
}

// drawSentences returns n sentences of 6 to 15 words, at most one per chunk.
func drawSentences(units []index.TextChunk, n int) (drawn []string) {
	units = slices.Clone(units)
	slices.SortFunc(units, func(a, b index.TextChunk) int {
		return cmp.Compare(order(fmt.Sprint("query ", a.ID)), order(fmt.Sprint("query ", b.ID)))
	})
	seen := make(map[string]bool)
	for _, u := range units {
		if len(drawn) == n {
			break
		}
		if s := sentenceOf(u.Text); s != "" && !seen[s] {
			seen[s] = true
			drawn = append(drawn, s)
		}
	}
	return drawn
}

// sentenceOf returns the first sentence of a text that has 6 to 15 words and little else.
func sentenceOf(text string) string {
	for s := sentences.FromString(text); s.Next(); {
		words, signs := strings.Fields(s.Value()), 0
		for _, w := range words {
			if !strings.ContainsFunc(w, unicode.IsLetter) {
				signs++
			}
		}
		if len(words)-signs >= 6 && len(words) <= 15 && signs <= 2 {
			return strings.Join(words, " ")
		}
	}
	return ""
}
