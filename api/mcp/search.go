package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/sentence"
	"github.com/ragctx/ragctx/providers/docs"
)

// mostPages is the last position that pages reach.
const mostPages = ragctx.MaxResultsLimit

type searchArguments struct {
	searchScope
	sized
	paged

	Query string `json:"query" jsonschema:"question or keywords"`
	Limit int    `json:"limit,omitempty" jsonschema:"results per page"`
}

// searchAnswer has the format that OpenAI's clients expect of a tool named search. It has a cursor
// and corrections only if the caller pages.
type searchAnswer struct {
	Results    []searchResult `json:"results"`
	NextCursor string         `json:"next_cursor,omitempty"`
	corrections
}

type searchResult struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url"`
	// Relevance is not a field of OpenAI's format.
	Relevance float64 `json:"relevance,omitempty"`
}

const fallbackResults = 10

func (s *Server) searchTool() tool {
	return define(s, readTool("search", "Search",
		"Lists the documents, memories and procedures that best match a query. Open one with fetch; to read "+
			"passages at once, use context.",
		func(p properties) {
			p.text("query", ragctx.MaxQueryBytes/4, true)
			p.between("limit", 1, 100, 0)
			p["limit"].Default = nil // absence differs from the default
			p.maxTokens(fallbackTokens)
			p.cursor()
		}), s.search)
}

func (s *Server) search(ctx context.Context, at Scope, in searchArguments) (searchAnswer, error) {
	pages := in.Limit > 0 || in.Cursor != ""
	limit := cmp.Or(in.Limit, fallbackResults)
	c, err := parseCursor(in.Cursor, queryHash("search", at, in.Query), mostPages)
	if err != nil {
		return searchAnswer{}, err
	}
	// A document may have several passages, but is listed once.
	q := query(at, in.Query, min(4*(c.After+limit+1), ragctx.MaxResultsLimit))
	// Vector search always finds a nearest text. Without a visible relevance it would look like an
	// answer.
	q.MinRelevance = new(ragctx.DefaultMinRelevance)
	found, err := s.engine.Search(ctx, q)
	if err != nil {
		return searchAnswer{}, err
	}
	all := sourcesOf(found.Items, pages)
	all = all[min(c.After, len(all)):]
	more := len(all) > limit
	all = all[:min(limit, len(all))]
	return fitOne(s, in.MaxTokens, len(all), func(k int) searchAnswer {
		a := searchAnswer{Results: all[:k]}
		if pages {
			a.NextCursor, a.corrections = c.next(k, more || k < len(all)), selectCorrections(found.Corrections, in.MaxTokens)
		}
		return a
	}, func() *string { return &all[0].Title })
}

// sourcesOf returns the sources of items in order, without duplicates; on request with their relevance.
func sourcesOf(items []ragctx.ContextItem, relevance bool) []searchResult {
	out := make([]searchResult, 0, len(items))
	seen := make(map[string]bool)
	for _, it := range items {
		id := it.ID
		if document, ok := it.Metadata["document"].(string); ok && it.Type == ragctx.TypeResource {
			id = document
		}
		if key := string(it.Type) + " " + id; !seen[key] {
			seen[key] = true
			r := searchResult{ID: id, Title: cmp.Or(titleOf(it), id), URL: urlOf(it.Type, id, it.Source)}
			if relevance {
				r.Relevance = rounded(it.Relevance)
			}
			out = append(out, r)
		}
	}
	return out
}

// titleChars is the length of a memory's title.
const titleChars = 80

func titleOf(it ragctx.ContextItem) string {
	if title, ok := it.Metadata["title"].(string); ok && title != "" {
		return sentence.Clip(title, 2*titleChars)
	}
	if it.Type == ragctx.TypeResource {
		return ""
	}
	return sentence.Clip(strings.Join(strings.Fields(it.Content), " "), titleChars)
}

// urlOf returns the web page of an item, or else its resource on this server.
func urlOf(kind ragctx.ContextType, id, source string) string {
	if u, err := url.Parse(source); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return source
	}
	if kind == ragctx.TypeMemory {
		return memoryRoot + escape(id)
	}
	return documentRoot + escape(id)
}

// rounded returns a relevance with its significant digits.
func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }

type codeArguments struct {
	documentScope
	sized
	paged

	Query string `json:"query" jsonschema:"what the code does, or names in it"`
	Limit int    `json:"limit,omitempty" jsonschema:"results per page"`
	Path  string `json:"path,omitempty" jsonschema:"id prefix of the files, such as src/server/"`
}

type codeAnswer struct {
	Notice     string       `json:"notice,omitempty"`
	Results    []codeResult `json:"results"`
	Note       string       `json:"note,omitempty"`
	NextCursor string       `json:"next_cursor,omitempty"`
	corrections
}

type codeResult struct {
	ID        string  `json:"id"`
	Path      string  `json:"path"`
	Lines     string  `json:"lines,omitempty"`
	Heading   string  `json:"heading,omitempty"`
	Content   string  `json:"content"`
	Truncated bool    `json:"truncated,omitempty"`
	Relevance float64 `json:"relevance"`
}

func (s *Server) codesearchTool() tool {
	return define(s, readTool("codesearch", "Search code and files",
		"Finds passages of code and files by what they do or by name, with path and lines. Open an id or path with fetch.",
		func(p properties) {
			p.text("query", ragctx.MaxQueryBytes/4, true)
			p.between("limit", 1, 100, fallbackResults)
			p.text("path", ragctx.MaxNameBytes, false)
			p.maxTokens(fallbackTokens)
			p.cursor()
		}), s.codesearch)
}

func (s *Server) codesearch(ctx context.Context, at Scope, in codeArguments) (codeAnswer, error) {
	c, err := parseCursor(in.Cursor, queryHash("codesearch", at, in.Query, in.Path), mostPages)
	if err != nil {
		return codeAnswer{}, err
	}
	q := query(at, in.Query, min(c.After+in.Limit+1, ragctx.MaxResultsLimit)).WithTypes(ragctx.TypeResource)
	q = q.WithParam(docs.ParamPrefer, "code")
	if in.Path != "" {
		q.Filter.Sources = []string{"file:" + in.Path + "*", "docs:" + in.Path + "*"}
	}
	found, err := s.engine.Search(ctx, q)
	if err != nil {
		return codeAnswer{}, err
	}
	note := ""
	if len(found.Items) == 0 {
		if note, err = s.missing(ctx, at.Namespace, in.Path); err != nil {
			return codeAnswer{}, err
		}
	}
	items := found.Items[min(c.After, len(found.Items)):]
	more := len(items) > in.Limit
	items = items[:min(in.Limit, len(items))]
	results := make([]codeResult, len(items))
	for i, it := range items {
		results[i] = codeResult{ID: it.ID, Content: it.Content, Relevance: rounded(it.Relevance)}
		results[i].Path, _ = it.Metadata["document"].(string)
		results[i].Lines, _ = it.Metadata["lines"].(string)
		results[i].Heading, _ = it.Metadata["heading"].(string)
	}
	return fitOne(s, in.MaxTokens, len(results), func(k int) codeAnswer {
		a := codeAnswer{
			Results: results[:k], Note: note, NextCursor: c.next(k, more || k < len(results)),
			corrections: selectCorrections(found.Corrections, in.MaxTokens),
		}
		if k > 0 {
			a.Notice = evidence
		}
		return a
	}, func() *string { results[0].Truncated = true; return &results[0].Content })
}

// missing returns the remedy where nothing can be found because a namespace has no document, or none below an id
// prefix; otherwise "".
func (s *Server) missing(ctx context.Context, namespace, prefix string) (string, error) {
	some, err := s.engine.ListDocuments(ctx, namespace, store.ListOptions{Limit: 1})
	switch {
	case err != nil && !errors.Is(err, ragctx.ErrNotFound):
		return "", err
	case len(some) == 0 && !s.opts.offers("ingest"):
		return "no document is stored", nil
	case len(some) == 0 && s.opts.Ingest == nil:
		return `no document is stored; call "ingest" with texts`, nil
	case len(some) == 0:
		return `no document is stored; call "ingest" with paths, such as ["."]`, nil
	case prefix == "":
		return "", nil
	}
	below, err := s.engine.ListDocuments(ctx, namespace, store.ListOptions{Limit: 1, Prefix: prefix})
	if err != nil || len(below) > 0 {
		return "", err
	}
	return fmt.Sprintf("path: no id begins with %q; ids are like %q", ragctx.Clip(prefix), ragctx.Clip(some[0].ID)), nil
}
