package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"path"
	"regexp"
	"strings"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

const (
	mimeMail     = "message/rfc822"
	maxMailDepth = 8    // nested multiparts
	maxMailParts = 1000 // per mail, on all levels
	maxAddresses = 300  // bytes of a recipient list

	// The parser allocates several hundred bytes per header field.
	maxMailHeader  = 1 << 20 // bytes
	maxHeaderLines = 10_000
)

// mailReader reads one mail.
type mailReader struct {
	ctx      context.Context
	in       *container
	texts    []string // text parts in order
	markdown bool     // one of the texts was HTML
	files    []File
	failed   []failure
	parts    int
}

// failure is a part that could not be read.
type failure struct {
	name string
	err  error
}

// expandMail reads a mail: its text, then its attachments.
func expandMail(ctx context.Context, f File, in *container) error {
	data := trimMail(f.Data)
	if !headerFits(data) {
		return refuse("has a header of more than %d lines or %d bytes: it is not a mail, or is damaged",
			maxHeaderLines, maxMailHeader)
	}
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		m, err = mail.ReadMessage(bytes.NewReader(repairHeader(data)))
	}
	if err != nil {
		return refuse("is not a mail, or is damaged (%v)", err)
	}
	timed, cancel := context.WithTimeout(ctx, in.opts().Timeout)
	defer cancel()
	l := &mailReader{ctx: timed, in: in}
	if err := l.part(textHeader(m.Header), m.Body, 0); err != nil {
		return err
	}
	if !in.text(l.text(m.Header)) {
		return nil
	}
	return l.attachments()
}

// trimMail removes empty lines and mailbox separators before the header.
func trimMail(b []byte) []byte {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), "\r\n")
	for bytes.HasPrefix(b, []byte("From ")) || bytes.HasPrefix(b, []byte(">From ")) {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return nil
		}
		b = b[i+1:]
	}
	return b
}

// headerFits reports whether the header is within the limits.
func headerFits(b []byte) bool {
	lines := 0
	for line := range bytes.Lines(b[:min(len(b), maxMailHeader)]) {
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return true
		}
		if lines++; lines > maxHeaderLines {
			return false
		}
	}
	return len(b) <= maxMailHeader
}

// headerLine matches a header field or a continuation line.
var headerLine = regexp.MustCompile(`^(?:[!-9;-~]+:|[ \t]+[^ \t\r\n])`)

// repairHeader removes stray lines from a header, which gateways and scanners leave there. It
// returns nil if no valid line remains or the header exceeds the limits.
func repairHeader(b []byte) []byte {
	var out []byte
	lines := 0
	for line := range bytes.Lines(b[:min(len(b), maxMailHeader)]) {
		if lines++; lines > maxHeaderLines {
			return nil
		}
		b = b[len(line):]
		if len(bytes.TrimRight(line, "\r\n")) == 0 && len(out) > 0 {
			return append(append(out, line...), b...)
		}
		if headerLine.Match(line) && (len(out) > 0 || line[0] != ' ' && line[0] != '\t') {
			out = append(out, line...)
		}
	}
	return nil
}

// header is the common interface of mail headers and part headers.
type header interface{ Get(key string) string }

type textHeader map[string][]string

// Get implements header.
func (h textHeader) Get(key string) string { return mail.Header(h).Get(key) }

// part reads a part of a mail, or the whole mail.
func (l *mailReader) part(h header, body io.Reader, depth int) error {
	if l.parts++; l.parts > maxMailParts {
		return refuse("has more than %d parts", maxMailParts)
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || !strings.Contains(kind, "/") {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" {
		if depth >= maxMailDepth {
			return refuse("has parts that are nested more than %d deep", maxMailDepth)
		}
		return l.multipart(kind, params["boundary"], body, depth)
	}
	name, attached := fileName(h, params)
	b, err := l.in.read(transferDecoder(h.Get("Content-Transfer-Encoding"), body), 0)
	switch {
	case errors.Is(err, errBudget):
		return l.in.budgetError()
	case err != nil && b == nil: // too large: read the other parts
		l.failed = append(l.failed, failure{cmp.Or(name, "attachment"), l.in.explain(err)})
		return nil
	}
	switch {
	case kind == "text/plain" && !attached:
		return l.addPlain(b, h.Get("Content-Type"), params)
	case kind == "text/html" && !attached:
		return l.addHTML(b, h.Get("Content-Type"))
	case isIgnoredPart(kind, attached, name):
		return nil
	}
	l.files = append(l.files, File{Name: name, MIME: kind, Data: b})
	return nil
}

// isIgnoredPart reports whether a part is not an attachment for users: inline pictures, signatures,
// delivery reports.
func isIgnoredPart(kind string, attached bool, name string) bool {
	switch kind {
	case "application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature",
		"message/delivery-status",
		"message/external-body", "text/rfc822-headers", "application/ms-tnef":
		return true
	}
	return strings.HasPrefix(kind, "image/") && !attached || name == "" && !attached && kind != mimeMail
}

func (l *mailReader) addPlain(b []byte, contentType string, params map[string]string) error {
	s, _, err := decodeText(b, contentType)
	if err != nil {
		return err
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.EqualFold(params["format"], "flowed") {
		s = unflow(s)
	}
	if s = markQuoted(strings.TrimSpace(s)); s != "" {
		l.texts = append(l.texts, s)
	}
	return nil
}

func (l *mailReader) addHTML(b []byte, contentType string) error {
	s, _, err := decodeText(b, contentType)
	if err != nil {
		return err
	}
	p, err := htmlMarkdown(l.ctx, []byte(s), pageOptions{keepAll: true, maxText: l.in.opts().MaxText})
	if err != nil {
		return err
	}
	if s := strings.TrimSpace(p.markdown); s != "" {
		l.texts, l.markdown = append(l.texts, s), true
	}
	return nil
}

// multipart reads the parts of a multipart. Of several alternatives it uses the plain text, or, if
// that is empty, the last alternative with text.
func (l *mailReader) multipart(kind, boundary string, body io.Reader, depth int) error {
	r := multipart.NewReader(body, boundary)
	best := -1 // quality of the chosen alternative
	for {
		p, err := r.NextRawPart()
		if err != nil {
			return nil //nolint:nilerr // a truncated mail yields the parts read so far
		}
		if kind == "multipart/digest" && p.Header.Get("Content-Type") == "" {
			p.Header.Set("Content-Type", mimeMail)
		}
		if kind != "multipart/alternative" {
			if err := l.part(textHeader(p.Header), p, depth+1); err != nil {
				return err
			}
			continue
		}
		one := &mailReader{ctx: l.ctx, in: l.in, parts: l.parts}
		if err := one.part(textHeader(p.Header), p, depth+1); err != nil {
			return err
		}
		l.parts = one.parts
		l.files, l.failed = append(l.files, one.files...), append(l.failed, one.failed...)
		if q := one.quality(); q > best {
			if best >= 0 {
				l.texts = l.texts[:len(l.texts)-1]
			}
			best = q
			l.texts = append(l.texts, strings.Join(one.texts, "\n\n"))
			l.markdown = one.markdown
		}
	}
}

// quality ranks alternatives: empty, HTML, plain text.
func (l *mailReader) quality() int {
	switch {
	case len(l.texts) == 0:
		return -1
	case l.markdown:
		return 0
	}
	return 1
}

// fileName returns the name of an attachment, and whether the part is declared as one.
func fileName(h header, params map[string]string) (name string, attached bool) {
	disposition, dp, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		disposition = ""
	}
	name = dp["filename"]
	if name == "" {
		name = params["name"]
	}
	name = path.Base(strings.ReplaceAll(decodeHeader(name), `\`, "/"))
	if name == "." || name == "/" || name == ".." {
		name = ""
	}
	return name, disposition == "attachment"
}

// transferDecoder undoes a transfer encoding.
func transferDecoder(encoding string, r io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding.WithPadding(base64.NoPadding), &base64Filter{r: r})
	case "quoted-printable":
		return quotedprintable.NewReader(r)
	}
	return r
}

// base64Filter passes only base64 characters. Gateways add lines of their own, and joined parts
// have padding in the middle.
type base64Filter struct{ r io.Reader }

// Read implements [io.Reader].
func (f *base64Filter) Read(p []byte) (int, error) {
	for {
		n, err := f.r.Read(p)
		kept := 0
		for _, c := range p[:n] {
			if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' {
				p[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// attachments reads the attachments.
func (l *mailReader) attachments() error {
	for _, x := range l.failed {
		if !l.in.fail(printable(x.name), x.err) {
			return nil
		}
	}
	used := make(map[string]int)
	for i, f := range l.files {
		if f.Name == "" {
			f.Name = fmt.Sprintf("attachment-%d%s", i+1, extensionOf(f.MIME))
		}
		if used[f.Name]++; used[f.Name] > 1 {
			ext := path.Ext(f.Name)
			f.Name = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(f.Name, ext), used[f.Name], ext)
		}
		if f.MIME == "application/octet-stream" {
			f.MIME = ""
		}
		name, ok, err := l.in.accept(f.Name)
		if err != nil {
			return err
		}
		if !ok {
			if !l.in.more {
				return nil
			}
			continue
		}
		f.Name = name
		if !l.in.file(f) {
			return nil
		}
	}
	return nil
}

func extensionOf(mimeType string) string {
	if mimeType == mimeMail {
		return ".eml"
	}
	for _, x := range formats() {
		if x.mime == mimeType && len(x.exts) > 0 {
			return "." + x.exts[0]
		}
	}
	return ""
}

// text returns the mail as text: header fields, then the body.
func (l *mailReader) text(h mail.Header) Text {
	t := Text{MIME: "text/plain", Format: mimeMail, Title: decodeHeader(h.Get("Subject"))}
	if l.markdown {
		t.MIME = "text/markdown"
	}
	var b strings.Builder
	from, to := decodeHeader(h.Get("From")), decodeHeader(h.Get("To"))
	t.setMeta(MetaFrom, from)
	t.setMeta(MetaTo, to)
	date := decodeHeader(h.Get("Date"))
	at, err := mail.ParseDate(date)
	if err != nil {
		at, err = timeexpr.Dates{}.Parse(date) // the format of exporters that are not mail programs
	}
	if err == nil && at.Year() > 1970 {
		t.Occurred = at
	}
	fields := [...][2]string{{"From", from}, {"To", to}, {"Date", dateLine(t.Occurred)}, {"Subject", t.Title}}
	for _, line := range fields {
		if v := clip(line[1], maxAddresses); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], v)
		}
	}
	for _, s := range l.texts {
		if s != "" {
			b.WriteString("\n" + s + "\n")
		}
	}
	t.Text = b.String()
	return t
}

func dateLine(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2 January 2006 15:04 -0700")
}

// clip cuts s to at most n bytes at a code point boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// decodeHeader returns a header's value in UTF-8, on one line.
func decodeHeader(s string) string {
	d := mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
		e, err := htmlindex.Get(charset)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(r), nil
	}}
	out, err := d.DecodeHeader(s)
	if err != nil {
		out = s
	}
	if text, _, err := decodeText([]byte(out), ""); err == nil {
		out = text
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(out, "\ufffd")), " ")
}
