package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// writeTexts embeds real texts with the built-in table: all chunks of the document trees
// (trees/*.tar.gz) and of the judged collections (dev/*/corpus.jsonl) below dir, cut as an ingest
// cuts them, and the collections' questions. Duplicates and texts without a vector are left out.
// The order of the rows is random, but the same in every run.
func writeTexts(ctx context.Context, dir, base, queries string, limit int) error {
	t := &texts{ctx: ctx, embedder: builtin.Default(), seen: make(map[string]bool)}
	if err := t.each(filepath.Join(dir, "dev", "*", "queries.jsonl"), t.questions); err != nil {
		return err
	}
	if err := t.save(queries, 2000); err != nil {
		return err
	}
	if err := t.each(filepath.Join(dir, "dev", "*", "corpus.jsonl"), t.corpus); err != nil {
		return err
	}
	if err := t.each(filepath.Join(dir, "trees", "*.tar.gz"), t.tree); err != nil {
		return err
	}
	return t.save(base, limit)
}

// texts collects the vectors of texts.
type texts struct {
	ctx      context.Context
	embedder embed.Embedder
	seen     map[string]bool
	rows     [][]float32
}

func (t *texts) each(pattern string, read func(io.Reader) error) error {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("no %s: %w", pattern, errors.Join(err, os.ErrNotExist))
	}
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		err = read(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

func (t *texts) add(text string) error {
	if t.seen[text] {
		return nil
	}
	t.seen[text] = true
	v, err := t.embedder.EmbedQuery(t.ctx, text)
	if v != nil {
		t.rows = append(t.rows, v)
	}
	return err
}

// document adds the chunks of a document. It skips a document that cannot be prepared.
func (t *texts) document(id, title, text string) error {
	p, err := docs.Prepare(ragctx.Document{ExternalID: id, Title: title, Text: text}, docs.Options{})
	if err != nil {
		return nil //nolint:nilerr // an ingest would leave it out, too
	}
	for _, c := range p.Chunks {
		if err := t.add(store.EmbedText(p.Title, c.Heading, c.Text)); err != nil {
			return err
		}
	}
	return nil
}

// line is a line of corpus.jsonl or queries.jsonl.
type line struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func lines(r io.Reader, use func(line) error) error {
	for d := json.NewDecoder(r); ; {
		var l line
		if err := d.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if err := use(l); err != nil {
			return err
		}
	}
}

func (t *texts) questions(r io.Reader) error {
	return lines(r, func(l line) error { return t.add(l.Text) })
}

func (t *texts) corpus(r io.Reader) error {
	return lines(r, func(l line) error { return t.document(l.ID, l.Title, l.Text) })
}

func (t *texts) tree(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if ext := path.Ext(h.Name); h.Typeflag != tar.TypeReg || ext != ".md" && ext != ".html" {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := t.document(h.Name, "", string(text)); err != nil {
			return err
		}
	}
}

// save writes the collected vectors, at most limit rows, and starts anew.
func (t *texts) save(path string, limit int) error {
	r := rand.New(rand.NewPCG(1, 1))
	r.Shuffle(len(t.rows), func(i, j int) { t.rows[i], t.rows[j] = t.rows[j], t.rows[i] })
	w, err := createFvecs(path)
	if err != nil {
		return err
	}
	for _, v := range t.rows[:min(limit, len(t.rows))] {
		if err := w.write(v); err != nil {
			return err
		}
	}
	t.rows = nil
	return w.close()
}
