package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/ragctx/ragctx"
)

// Limits of a sitemap and its nested sitemaps. The protocol (sitemaps.org) allows 50,000 entries
// and 50 MB per file, and indexes that do not list other indexes.
const (
	maxSitemapBytes = 50 << 20
	maxSitemaps     = 1000
	maxNesting      = 4
)

// IsSitemap reports whether a page lists other pages: a sitemap or a sitemap index as XML, possibly
// compressed with gzip; a text file with "sitemap" in its name and a URL on its first line; or the
// robots.txt of a host, which names its sitemaps.
func IsSitemap(p Page) bool {
	u, err := url.Parse(p.URL)
	if err != nil || len(p.Data) == 0 {
		return false
	}
	head, _ := unpack(p.Data, 4<<10)
	return u.Path == "/robots.txt" || rootElement(head) != "" || isList(u, head)
}

// isList reports whether the text that begins with head is a text sitemap.
func isList(u *url.URL, head []byte) bool {
	name := strings.ToLower(strings.TrimSuffix(path.Base(u.Path), ".gz"))
	first, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	return path.Ext(name) == ".txt" && strings.Contains(name, "sitemap") && IsURL(strings.TrimPrefix(first, "\ufeff"))
}

// rootElement returns "urlset" or "sitemapindex" if that is the first element of a text, or "".
func rootElement(head []byte) string {
	d := decoder(head)
	for {
		t, err := d.RawToken()
		if err != nil {
			return ""
		}
		switch e := t.(type) {
		case xml.StartElement:
			if e.Name.Local == "urlset" || e.Name.Local == "sitemapindex" {
				return e.Name.Local
			}
			return ""
		case xml.CharData:
			if len(bytes.TrimSpace(bytes.TrimPrefix(e, []byte("\ufeff")))) > 0 {
				return ""
			}
		}
	}
}

func decoder(b []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	d.CharsetReader = charset.NewReaderLabel
	return d
}

// unpack returns at most limit bytes of data that may be compressed with gzip, and whether there
// are more.
func unpack(b []byte, limit int64) (out []byte, more bool) {
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, false
		}
		// The bytes before an error are used.
		b, _ = io.ReadAll(io.LimitReader(z, limit+1))
	}
	return b[:min(int64(len(b)), limit)], int64(len(b)) > limit
}

// sitemap has the entries of one file.
type sitemap struct {
	locs  []string
	index bool // locs are sitemaps
}

// parseSitemap parses at most limit entries of a sitemap. With an error it also returns the entries
// before it.
func parseSitemap(u *url.URL, b []byte, limit int) (sitemap, error) {
	switch {
	case u.Path == "/robots.txt":
		locs := parseRobots(b).sitemaps
		if len(locs) == 0 {
			return sitemap{}, errors.New("names no sitemap")
		}
		return sitemap{locs: locs[:min(len(locs), limit)], index: true}, nil
	case rootElement(b[:min(len(b), 4<<10)]) == "" && isList(u, b[:min(len(b), 4<<10)]):
		var s sitemap
		for line := range strings.Lines(strings.TrimPrefix(string(b), "\ufeff")) {
			if line = strings.TrimSpace(line); line != "" && len(s.locs) < limit {
				s.locs = append(s.locs, line)
			}
		}
		return s, nil
	}
	return parseXML(b, limit)
}

// parseXML reads the loc elements that are children of url and sitemap. Images and videos have loc
// elements, too.
func parseXML(b []byte, limit int) (sitemap, error) {
	var s sitemap
	var above []string // local names of the open elements
	var text strings.Builder
	d := decoder(b)
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, fmt.Errorf("is not valid XML: %w", err)
		}
		switch e := t.(type) {
		case xml.StartElement:
			if len(above) == 0 {
				if e.Name.Local != "urlset" && e.Name.Local != "sitemapindex" {
					return s, fmt.Errorf("is not a sitemap: its first element is %q", ragctx.Clip(e.Name.Local))
				}
				s.index = e.Name.Local == "sitemapindex"
			}
			above = append(above, e.Name.Local)
			text.Reset()
		case xml.CharData:
			if text.Len() < 8<<10 {
				text.Write(e)
			}
		case xml.EndElement:
			if len(above) == 3 && above[2] == "loc" && (above[1] == "url" || above[1] == "sitemap") {
				if len(s.locs) == limit {
					return s, nil
				}
				s.locs = append(s.locs, strings.TrimSpace(text.String()))
			}
			above = above[:len(above)-1]
		}
	}
}

// List yields the pages of a sitemap and its nested sitemaps, each once, by canonical URL. An
// [*Error] concerns one entry; if it is Incomplete, it concerns a sitemap that could not be read,
// so that pages are missing. The other entries follow. Any other error is the end of ctx. Entries
// on hosts that are not allowed are errors.
func (c *Client) List(ctx context.Context, p Page) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		l := &lister{client: c, seen: make(map[string]bool), yield: yield}
		l.sitemap(ctx, p, 0)
	}
}

// lister is one call of List. Its methods return false when it is over.
type lister struct {
	client   *Client
	seen     map[string]bool // URLs of pages and sitemaps
	pages    int
	sitemaps int
	yield    func(string, error) bool
}

// sitemap yields the entries of a sitemap.
func (l *lister) sitemap(ctx context.Context, p Page, depth int) bool {
	l.seen[p.URL] = true
	l.sitemaps++
	at, err := url.Parse(p.At)
	if err != nil {
		return l.incomplete(p.URL, "has no URL")
	}
	data, more := unpack(p.Data, maxSitemapBytes)
	if more {
		return l.incomplete(p.URL, "exceeds the limit of %d bytes when decompressed", maxSitemapBytes)
	}
	left := l.client.opts.MaxURLs - l.pages
	s, err := parseSitemap(at, data, left+1)
	for _, loc := range s.locs {
		if ctx.Err() != nil {
			return l.yield("", ctx.Err())
		}
		u, uerr := resolve(at, loc)
		switch {
		case uerr != nil:
			if !l.yield("", uerr) {
				return false
			}
		case l.seen[u.String()]:
		case s.index:
			if !l.nested(ctx, u, depth+1) {
				return false
			}
		case l.pages >= l.client.opts.MaxURLs:
			return l.incomplete(p.URL, "lists more than the limit of %d pages; ingest its nested sitemaps one by one",
				l.client.opts.MaxURLs)
		default:
			if !l.page(ctx, u) {
				return false
			}
		}
	}
	if err != nil {
		return l.incomplete(p.URL, "%v", err)
	}
	return true
}

// resolve parses an entry, which may be relative.
func resolve(at *url.URL, loc string) (*url.URL, error) {
	if ref, err := url.Parse(loc); err == nil && loc != "" && !ref.IsAbs() {
		loc = at.ResolveReference(ref).String()
	}
	return parse(loc)
}

func (l *lister) page(ctx context.Context, u *url.URL) bool {
	l.seen[u.String()] = true
	l.pages++
	return l.yield(u.String(), l.client.checkHost(ctx, u))
}

// nested reads a nested sitemap. Sitemaps are meant for programs, so robots.txt does not apply.
func (l *lister) nested(ctx context.Context, u *url.URL, depth int) bool {
	l.seen[u.String()] = true
	switch {
	case depth > maxNesting:
		return l.incomplete(u.String(), "is nested deeper than the limit of %d", maxNesting)
	case l.sitemaps >= maxSitemaps:
		return l.incomplete(u.String(), "exceeds the limit of %d sitemaps", maxSitemaps)
	}
	p, err := l.client.Sitemap(ctx, u.String())
	if e, ok := errors.AsType[*Error](err); ok {
		return l.incomplete(e.URL, "%s", e.Reason)
	}
	if err != nil {
		return l.yield("", err)
	}
	return l.sitemap(ctx, p, depth)
}

// Sitemap is like [Client.Get] for a sitemap: the size limit is larger, and robots.txt does not
// apply.
func (c *Client) Sitemap(ctx context.Context, raw string) (Page, error) {
	return c.get(ctx, raw, "", c.checkHost, max(c.opts.MaxBytes, maxSitemapBytes))
}

func (l *lister) incomplete(at, format string, args ...any) bool {
	return l.yield("", &Error{URL: at, Reason: fmt.Sprintf(format, args...), Incomplete: true})
}
