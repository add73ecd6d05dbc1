package extract

import (
	"slices"
	"strings"
)

// Version names the rules by which files become text. It changes whenever the
// same file could give another text, so that files are read again.
const Version = "extract-3"

// Extensions returns the file name extensions of what is converted, in lower
// case and without the dot, in order.
func Extensions() []string {
	var out []string
	for _, x := range formats() {
		out = append(out, x.exts...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Types returns the MIME types of what is converted, in order, with their other names.
func Types() []string {
	var out []string
	for _, x := range formats() {
		out = append(append(out, x.mime), x.also...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Converts reports whether a text of this MIME type, without parameters, is converted:
// a web page, a notebook, a mail. What is not text in the first place is not.
func Converts(mime string) bool {
	mime = strings.ToLower(strings.TrimSpace(mime))
	text := strings.HasPrefix(mime, "text/") || strings.HasPrefix(mime, "message/") ||
		strings.HasSuffix(mime, "json") || strings.HasSuffix(mime, "+xml")
	return text && slices.ContainsFunc(formats(), func(x format) bool { return x.mime == mime || slices.Contains(x.also, mime) })
}

// Holds reports whether a file of this name may hold other files.
func Holds(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(formats(), func(x format) bool {
		return x.expand != nil && slices.ContainsFunc(x.exts, func(ext string) bool { return strings.HasSuffix(name, "."+ext) })
	})
}

// ShortName returns a name for a [Text.Format] that people use: the usual
// extension, such as "pdf" or "docx"; the type itself if it has none.
func ShortName(mime string) string {
	for _, x := range formats() {
		if (x.mime == mime || slices.Contains(x.also, mime)) && len(x.exts) > 0 {
			return x.exts[0]
		}
	}
	return mime
}
