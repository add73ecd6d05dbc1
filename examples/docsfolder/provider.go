package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// The folder is read anew for each question, so it has to be small.
const (
	maxFiles     = 2000
	maxFileBytes = 1 << 20
)

// Docs finds files of a folder by the question's words. The built-in documents do that
// better; this shows how a source of one's own is searched.
type Docs struct{ folder fs.FS }

// Name implements [ragctx.ContextProvider].
func (Docs) Name() string { return "docs_folder" }

// Query implements [ragctx.ContextProvider].
func (d Docs) Query(ctx context.Context, q ragctx.ContextQuery) (r ragctx.ContextResult, err error) {
	words := wordsOf(q.Query)
	if len(words) == 0 || !q.Wants(ragctx.TypeResource) {
		r.Note = "the question has no words"
		return r, nil
	}
	found, err := d.search(ctx, words)
	if err != nil {
		return r, err
	}
	slices.SortFunc(found, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.path, b.path)) })
	r.Truncated = len(found) > q.MaxResults
	for _, m := range found[:min(len(found), q.MaxResults)] {
		r.Add(ragctx.ContextItem{
			ID: m.path, Type: ragctx.TypeResource, Content: atDepth(m.text, q.Depth), Depth: q.Depth,
			TokenCount: len(strings.Fields(m.text)), Relevance: m.score, Source: "docs:" + m.path,
			Metadata: map[string]any{"path": m.path},
		})
	}
	return r, nil
}

// match is a file that has words of the question. Its score is the share of them.
type match struct {
	path, text string
	score      float64
}

var errEnough = errors.New("the folder has more files than are looked at")

func (d Docs) search(ctx context.Context, words []string) (found []match, err error) {
	files := 0
	err = fs.WalkDir(d.folder, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !e.Type().IsRegular() || path.Ext(name) != ".md" && path.Ext(name) != ".txt":
			return nil
		}
		if files++; files > maxFiles {
			return errEnough
		}
		if info, err := e.Info(); err != nil || info.Size() > maxFileBytes {
			return err
		}
		text, err := fs.ReadFile(d.folder, name)
		if err != nil || !utf8.Valid(text) {
			return err
		}
		if s := score(words, string(text)); s > 0 {
			found = append(found, match{name, string(text), s})
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}

// score returns the share of the words that a text has.
func score(words []string, text string) float64 {
	has := wordsOf(text)
	n := 0
	for _, w := range words {
		if _, ok := slices.BinarySearch(has, w); ok {
			n++
		}
	}
	return float64(n) / float64(len(words))
}

// wordsOf returns the different words of a text of more than two letters, sorted.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return utf8.RuneCountInString(w) < 3 })
	slices.Sort(words)
	return slices.Compact(words)
}

// atDepth returns the beginning of a text that a depth shows. The budget is not this
// provider's to keep: what does not fit is cut or left out by who asked.
func atDepth(text string, d ragctx.ContextDepth) string {
	limit := len(text)
	switch d {
	case ragctx.DepthAbstract:
		limit = 500
	case ragctx.DepthOverview:
		limit = 2000
	case ragctx.DepthFull:
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), limit)])
}
