package engine

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs/fetch"
)

// listingTTL is how long a sitemap's listing is cached: a job counts its entries while it reads
// them.
const listingTTL = time.Minute

// WebSources opens URLs as ingest sources, in addition to paths of this machine: a page, or the pages
// that a sitemap lists. A document's id is its page's URL, which is also its citation. Pages that
// the server reports as gone, and those no longer in the sitemap, lose their documents; server
// failures delete none. It is safe for concurrent use.
type WebSources struct {
	client *fetch.Client
	now    func() time.Time

	mu       sync.Mutex
	listings map[string]*listing // by sitemap URL
}

// NewWebSources returns Sites that fetch URLs with these options.
func NewWebSources(o fetch.Options) *WebSources {
	s := &WebSources{client: fetch.New(o), now: o.Now, listings: make(map[string]*listing)}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Close closes idle connections.
func (s *WebSources) Close() { s.client.Close() }

// Open is [OpenPath] for paths and URLs. The options' patterns apply to the path of a page's URL;
// without any, all pages are taken. See [IngestOptions.Open].
func (s *WebSources) Open(path string, o IngestOptions) (Source, error) {
	if !fetch.IsURL(path) {
		return OpenPath(path, o)
	}
	at, err := fetch.Canonical(path)
	if err != nil {
		return nil, ragctx.Invalid("url", "%v", err)
	}
	takes, err := o.Walk.Selects()
	if err != nil {
		return nil, err
	}
	r := &webSource{sources: s, url: at, opts: o, takes: takes, readingHash: o.readingHash()}
	if o.Prefix != "" {
		r.prefix = o.Prefix + "/"
	}
	return r, nil
}

// listing is the content of a sitemap.
type listing struct {
	made     sync.Mutex // held while the listing is fetched
	until    time.Time
	page     bool // the URL is a page, not a sitemap
	pages    []string
	refused  []*fetch.Error
	complete bool // whether all pages are known
}

// list returns the listing of the sitemap at a URL. It fails if the sitemap cannot be fetched or
// ctx ends.
func (s *WebSources) list(ctx context.Context, at string) (*listing, error) {
	s.mu.Lock()
	l := s.listings[at]
	if l == nil {
		l = new(listing)
		s.listings[at] = l
	}
	s.mu.Unlock()
	l.made.Lock()
	defer l.made.Unlock()
	if s.now().Before(l.until) {
		return l, nil
	}
	p, err := s.client.Sitemap(ctx, at)
	if err != nil {
		return nil, err
	}
	fresh := listing{page: !fetch.IsSitemap(p), complete: true}
	switch {
	case !fresh.page:
		err = fresh.read(ctx, s.client, p)
	case strings.Contains(p.MIME, "html") &&
		slices.Contains([]string{".xml", ".gz", ".txt"}, path.Ext(at)): // probably a login page
		err = &fetch.Error{URL: at, Reason: "is a web page, although its name is that of a sitemap; open it in a browser"}
	}
	if err != nil {
		return nil, err
	}
	l.page, l.pages, l.refused, l.complete = fresh.page, fresh.pages, fresh.refused, fresh.complete
	l.until = s.now().Add(listingTTL)
	return l, nil
}

func (l *listing) read(ctx context.Context, c *fetch.Client, p fetch.Page) error {
	for u, err := range c.List(ctx, p) {
		e, ok := errors.AsType[*fetch.Error](err)
		switch {
		case ok:
			l.refused = append(l.refused, e)
			l.complete = l.complete && !e.Incomplete
		case err != nil:
			return err
		default:
			l.pages = append(l.pages, u)
		}
	}
	return nil
}
