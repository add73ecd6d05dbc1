package extract

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/net/html/atom"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// head is the metadata of a page.
type head struct {
	title, ogTitle, site string
	author, lang         string
	published            time.Time
}

// readHead reads the metadata elements. It must run before [measure] removes them.
func readHead(n *node) head {
	var h head
	h.visit(n)
	return h
}

func (h *head) visit(n *node) {
	switch n.tag {
	case atom.Html:
		h.lang = strings.TrimSpace(n.attr("lang") + n.attr("xml:lang"))
	case atom.Title:
		if h.title == "" {
			h.title = textOf(n)
		}
		return
	case atom.Meta:
		h.metaElement(n)
		return
	case atom.Svg: // has its own titles
		return
	default:
	}
	for _, k := range n.kids {
		if !k.isText() {
			h.visit(k)
		}
	}
}

func (h *head) metaElement(n *node) {
	value := strings.Join(strings.Fields(n.attr("content")), " ")
	if value == "" {
		return
	}
	switch strings.ToLower(n.attr("property") + n.attr("name") + n.attr("itemprop")) {
	case "og:title":
		h.ogTitle = value
	case "og:site_name", "application-name":
		h.site = value
	case "author", "dc.creator", "dcterms.creator", "citation_author", "article:author":
		if h.author == "" && !strings.Contains(value, "://") {
			h.author = value
		}
	case "article:published_time", "datepublished", "citation_publication_date", "dc.date", "dc.date.issued",
		"dcterms.date":
		if t := parseDate(value); h.published.IsZero() {
			h.published = t
		}
	}
}

func (h *head) metadata() map[string]any {
	m := make(map[string]any)
	if h.author != "" {
		m[MetaAuthor] = h.author
	}
	if lang := languageCode(h.lang); lang != "" {
		m[MetaLanguage] = lang
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// pageTitle chooses the title of a page. A single top-level heading is preferred, because <title>
// often includes the site name.
func (h *head) pageTitle(headings []string, opening string) string {
	t := h.ogTitle
	if t == "" {
		t = h.title
	}
	if len(headings) == 1 || len(headings) > 0 && (t == "" || strings.Contains(t, headings[0])) {
		return headings[0]
	}
	if t == "" || opening != "" && strings.HasPrefix(t, opening) {
		return opening
	}
	return trimSiteName(t, h.site)
}

// trimSiteName removes the site name at the end of a title: the name that the page declares, or the
// part after the last bar.
func trimSiteName(title, site string) string {
	for _, sep := range []string{" | ", " — ", " – ", " - ", " · ", " :: ", " • "} {
		i := strings.LastIndex(title, sep)
		if i <= 0 {
			continue
		}
		if rest := title[i+len(sep):]; rest == site || sep == " | " ||
			strings.HasSuffix(strings.ToLower(rest), "documentation") {
			return strings.TrimSpace(title[:i])
		}
	}
	return title
}

// parseDate parses the date of a page, or returns the zero time.
func parseDate(s string) time.Time {
	t, _ := timeexpr.Dates{}.Parse(s) // zero on error
	return t
}

// languageCode returns the ISO 639-1 code of a language tag such as "en-GB", or "".
func languageCode(tag string) string {
	base, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	base = strings.ToLower(base)
	if len(base) != 2 || base[0] < 'a' || base[0] > 'z' || base[1] < 'a' || base[1] > 'z' {
		return ""
	}
	return base
}

// cutFrontMatter removes front matter (YAML between dashes, or JSON in a comment) and returns its
// title.
func cutFrontMatter(src []byte) (rest []byte, title string) {
	rest = src
	var matter []byte
	if b, ok := bytes.CutPrefix(src, []byte("---\n")); ok {
		end := bytes.Index(b[:min(len(b), maxFrontMatter)], []byte("\n---"))
		if end < 0 {
			return src, ""
		}
		matter, rest = b[:end], b[end+len("\n---"):]
	} else if b, ok := bytes.CutPrefix(src, []byte("<!--{")); ok {
		end := bytes.Index(b[:min(len(b), maxFrontMatter)], []byte("}-->"))
		matter = b[:max(end, 0)]
	} else {
		return src, ""
	}
	for line := range bytes.Lines(matter) {
		k, v, ok := strings.Cut(string(line), ":")
		if ok && strings.EqualFold(strings.Trim(k, "\" \t"), "title") {
			return rest, strings.Trim(v, "\"', \t\r\n")
		}
	}
	return rest, ""
}

// maxFrontMatter bounds the front matter in bytes.
const maxFrontMatter = 8 << 10
