package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
	"github.com/ragctx/ragctx/providers/docs/fetch"
)

// webSource is a [Source] on web servers.
type webSource struct {
	sources     *WebSources
	url         string // canonical
	opts        IngestOptions
	prefix      string // of ids, before the URL
	takes       func(rel string) bool
	readingHash string // hash of the reading options, as part of page states
	complete    bool   // whether all pages of the site are known
	refused     map[string]bool
}

// Name implements [Source].
func (r *webSource) Name() string { return r.url }

// Prefix implements [Source]: a sitemap may list the pages of several hosts.
func (r *webSource) Prefix() string { return r.prefix + "http" }

// Entries implements [Source].
func (r *webSource) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if !looksLikeSitemap(r.url) {
			yield(r.entry(r.url), nil)
			return
		}
		l, err := r.sources.list(ctx, r.url)
		switch {
		case err != nil:
			yield(Entry{}, skipError(err))
		case l.page:
			yield(r.entry(r.url), nil)
		default:
			r.entries(l, yield)
		}
	}
}

// entries yields the pages that a sitemap lists.
func (r *webSource) entries(l *listing, yield func(Entry, error) bool) {
	// An empty sitemap is more likely a mistake than intended.
	r.complete, r.refused = l.complete && len(l.pages) > 0, make(map[string]bool)
	for _, e := range l.refused {
		r.refused[e.URL] = true
		if !yield(Entry{}, skipError(e)) {
			return
		}
	}
	for _, at := range l.pages {
		if !r.takes(urlPath(at)) {
			r.refused[at] = true // it exists, but is excluded this time
			continue
		}
		if !yield(r.entry(at), nil) {
			return
		}
	}
}

// Gone implements [Source]: the sitemap no longer lists the page.
func (r *webSource) Gone(id string) bool {
	at := strings.TrimPrefix(id, r.prefix)
	for i := range len(at) {
		if at[i] == '/' && r.refused[at[:i]] && extract.Holds(at[:i]) {
			return false
		}
	}
	return r.complete && !r.refused[at]
}

// looksLikeSitemap reports whether a URL looks like a sitemap.
func looksLikeSitemap(at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	name := strings.ToLower(path.Base(u.Path))
	return u.Path == "/robots.txt" || strings.Contains(name, "sitemap") ||
		strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".xml")
}

// urlPath returns the path of a URL in the form that patterns match.
func urlPath(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// skipError converts an error of package fetch to one of an entry.
func skipError(err error) error {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return &docs.Skip{Path: e.URL, Reason: e.Reason, Gone: e.Gone, Unread: true}
	}
	return err
}

func (r *webSource) entry(at string) Entry {
	p := &webPage{source: r, url: at, id: r.prefix + at}
	return Entry{
		ID: p.id, Path: at, Single: !extract.Holds(urlPath(at)),
		Ask: p.ask, Read: p.read,
	}
}

// webPage is a page of a website.
type webPage struct {
	source  *webSource
	url, id string
	page    *fetch.Page // nil if not fetched yet
}

// ask implements [Entry.Ask] with a conditional request for the state of the last ingest.
func (p *webPage) ask(ctx context.Context, last string) (string, error) {
	how := p.source.readingHash
	known, same := strings.CutPrefix(last, how+" ")
	if !same || how == "" {
		known = ""
	}
	page, err := p.source.sources.client.Get(ctx, p.url, known)
	if err != nil {
		return "", skipError(err)
	}
	p.page = &page
	switch {
	case page.Unchanged:
		return last, nil
	case how == "" || page.State == "":
		return "", nil
	}
	return how + " " + page.State, nil
}

// read implements [Entry.Read].
func (p *webPage) read(ctx context.Context) iter.Seq2[ragctx.Document, error] {
	return func(yield func(ragctx.Document, error) bool) {
		if p.page == nil || p.page.Unchanged {
			page, err := p.source.sources.client.Get(ctx, p.url, "")
			if err != nil {
				yield(ragctx.Document{}, skipError(err))
				return
			}
			p.page = &page
		}
		if reason := p.rejectReason(); reason != "" {
			yield(ragctx.Document{}, p.skip("", reason))
			return
		}
		p.documents(ctx, yield)
	}
}

// rejectReason returns why a page is not taken; "" if it is.
func (p *webPage) rejectReason() string {
	limit := p.source.opts.Walk.MaxFileBytes
	switch {
	case limit > 0 && int64(len(p.page.Data)) > limit:
		return fmt.Sprintf("is more than %d bytes, the limit", limit)
	case fetch.IsSitemap(*p.page):
		return `is a sitemap; its name must contain "sitemap" or end with .xml`
	}
	return ""
}

func (p *webPage) documents(ctx context.Context, yield func(ragctx.Document, error) bool) {
	o := p.source.opts
	d := ragctx.Document{ExternalID: p.id, Source: p.url, Tags: o.Tags, Metadata: o.Metadata, Chunk: o.Chunk}
	file := extract.File{Name: withoutQuery(p.page.At), MIME: p.page.MIME, Data: p.page.Data}
	for d, err := range documentsIn(ctx, o.Extract, file, extract.Options{}, d) {
		at := strings.TrimPrefix(strings.TrimPrefix(d.ExternalID, p.id), "/")
		switch {
		case err != nil && ctx.Err() != nil:
			err = ctx.Err()
		case err != nil:
			err = p.failed(err)
		case at != "" && !extract.Holds(urlPath(p.url)):
			err = p.skip("", "holds several documents, but its URL has no archive extension such as .zip")
		case strings.TrimSpace(d.Text) == "":
			err = p.skip(at, "has no text")
		case at != "":
			d.Source = p.url + "/" + at
		}
		if skip, ok := errors.AsType[*docs.Skip](err); !yield(d, err) || ok && skip.Unread {
			return
		}
	}
}

// failed converts the error of a page, or of a file inside it, to a skip.
func (p *webPage) failed(err error) error {
	reason := strings.TrimPrefix(err.Error(), "body: ")
	if in, ok := errors.AsType[*insideError](err); ok {
		return p.skip(in.path, strings.TrimPrefix(in.err.Error(), "body: "))
	}
	return p.skip("", reason)
}

func (p *webPage) skip(inside, reason string) error {
	path := p.url
	if inside != "" {
		path += "/" + inside
	}
	return &docs.Skip{Path: path, Reason: reason, Inside: inside, Unread: inside == ""}
}

// withoutQuery returns a URL without its query.
func withoutQuery(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return at
	}
	u.RawQuery = ""
	return u.String()
}
