package extract

import (
	"slices"
	"strings"
)

// Version names the conversion rules. It changes whenever the same file could give another text, so
// that files are read again.
const Version = "extract-3"

// Extensions returns the file name extensions of the supported formats, sorted, in lower case and
// without the dot.
func Extensions() []string {
	var out []string
	for _, x := range formats() {
		out = append(out, x.exts...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Types returns the MIME types of the supported formats, including their aliases, sorted.
func Types() []string {
	var out []string
	for _, x := range formats() {
		out = append(append(out, x.mime), x.aliases...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Converts reports whether a text of this MIME type, without parameters, is converted: a web page,
// a notebook, a mail. It returns false for types that are not text.
func Converts(mime string) bool {
	mime = strings.ToLower(strings.TrimSpace(mime))
	text := strings.HasPrefix(mime, "text/") || strings.HasPrefix(mime, "message/") ||
		strings.HasSuffix(mime, "json") || strings.HasSuffix(mime, "+xml")
	return text && slices.ContainsFunc(formats(), func(x format) bool { return x.hasType(mime) })
}

// Holds reports whether a file of this name may contain other files.
func Holds(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(formats(), func(x format) bool {
		return x.expand != nil && slices.ContainsFunc(x.exts,
			func(ext string) bool { return strings.HasSuffix(name, "."+ext) })
	})
}

// ShortName returns a short name for a [Text.Format]: the usual extension, such as "pdf" or "docx",
// or the type itself if it has no extension.
func ShortName(mime string) string {
	for _, x := range formats() {
		if x.hasType(mime) && len(x.exts) > 0 {
			return x.exts[0]
		}
	}
	return mime
}
