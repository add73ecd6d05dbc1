package extract

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Version names the conversion rules. It changes whenever the same file could give another text, so
// that files are read again.
const Version = "extract-5"

// format describes one file format. Exactly one of read and expand is set.
type format struct {
	mime    string
	aliases []string // other MIME types of the format
	exts    []string // without dot, lower case
	// magic lists first bytes that identify the format regardless of the name. weakMagic counts
	// only if the name has no extension.
	magic, weakMagic []string
	// read converts a file to text.
	read func(ctx context.Context, f File, o Options) (Text, error)
	// expand passes the files inside f, and any text of f itself, to the container. It stops when a
	// method of in returns false, and returns an error that ends the reading of the rest.
	expand func(ctx context.Context, f File, in *container) error
	// isolate requests a separate process if there is a [Pool], for a reader that is large,
	// third-party, or uses memory as the file dictates.
	isolate bool
}

func (f format) hasType(mime string) bool { return f.mime == mime || slices.Contains(f.aliases, mime) }

// formats is the table of the formats that are converted to text, or refused. A file is matched by its type, then by its
// first bytes, then by its extension, and of several rows the first counts. To add one, add a row here and a reader in
// its own file; a document in a zip archive is one more case of readOffice. Package docs has the table of text formats,
// which stay as they are. The table is a function, because readers of archives and mails look up the files inside in it.
func formats() []format {
	return []format{
		// Web pages and notebooks.
		{mime: "application/x-ipynb+json", exts: []string{"ipynb"}, read: readNotebook, isolate: true},
		{
			mime: "text/html", aliases: []string{"application/xhtml+xml"}, read: readHTML,
			exts:      []string{"html", "htm", "xhtml", "xht", "shtml"},
			weakMagic: []string{"<!DOCTYPE html", "<!doctype html", "<html", "<HTML", "<!DOCTYPE HTML"},
		},
		// Mails and mailboxes.
		{mime: mimeMail, aliases: []string{"message/global"}, exts: []string{"eml"}, expand: expandMail},
		{mime: "application/mbox", exts: []string{"mbox"}, expand: expandMbox},
		// Files that contain other files.
		{
			mime: mimeZip, aliases: []string{"application/x-zip-compressed"}, exts: []string{"zip"},
			weakMagic: []string{"PK\x03\x04"}, expand: expandZip,
		},
		{mime: "application/x-tar", aliases: []string{"application/tar"}, exts: []string{"tar"}, expand: expandTar},
		{
			mime:    "application/gzip",
			aliases: []string{"application/x-gzip", "application/x-gtar", "application/x-compressed-tar"},
			exts:    []string{"gz", "tgz"}, magic: []string{"\x1f\x8b\x08"}, expand: expandGzip,
		},
		{
			mime: "application/zstd", exts: []string{"zst", "tzst"},
			magic: []string{"\x28\xb5\x2f\xfd"}, expand: expandZstd,
		},
		{
			mime: "application/x-bzip2", exts: []string{"bz2", "tbz2", "tbz"},
			magic: []string{"BZh91AY&SY"}, expand: expandBzip2,
		},
		// Office documents. Each file is read by its content, so a wrong extension does not matter.
		{
			mime: mimeDOCX, exts: []string{"docx", "docm", "dotx", "dotm"}, read: readOffice, isolate: true,
			aliases: []string{
				"application/vnd.openxmlformats-officedocument.wordprocessingml.template",
				"application/vnd.ms-word.document.macroenabled.12", "application/vnd.ms-word.template.macroenabled.12",
			},
		},
		{
			mime: mimePPTX, exts: []string{"pptx", "pptm", "ppsx", "ppsm", "potx", "potm"},
			read: readOffice, isolate: true,
			aliases: []string{
				"application/vnd.openxmlformats-officedocument.presentationml.slideshow",
				"application/vnd.openxmlformats-officedocument.presentationml.template",
				"application/vnd.ms-powerpoint.presentation.macroenabled.12",
				"application/vnd.ms-powerpoint.slideshow.macroenabled.12",
				"application/vnd.ms-powerpoint.template.macroenabled.12",
			},
		},
		{
			mime: mimeXLSX, exts: []string{"xlsx", "xlsm", "xltx", "xltm", "xlsb"}, read: readOffice, isolate: true,
			aliases: []string{
				"application/vnd.openxmlformats-officedocument.spreadsheetml.template",
				"application/vnd.ms-excel.sheet.binary.macroenabled.12",
				"application/vnd.ms-excel.sheet.macroenabled.12", "application/vnd.ms-excel.template.macroenabled.12",
			},
		},
		{mime: mimeEPUB, exts: []string{"epub"}, read: readOffice, isolate: true},
		// Formats that are refused. They are listed so that the error names the format and the remedy.
		{
			mime: mimeODT,
			exts: []string{"odt", "ods", "odp", "ott", "ots", "otp"}, read: refuseOpenDocument,
			aliases: []string{
				"application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.presentation",
			},
		},
		{
			mime: "application/x-ole-storage", magic: []string{oleMagic}, read: refuseOLE,
			exts:    []string{"doc", "dot", "xls", "xlt", "ppt", "pps", "pot", "msg", "pub", "vsd"},
			aliases: []string{"application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"},
		},
		{
			mime: "application/rtf", aliases: []string{"text/rtf"}, exts: []string{"rtf"}, magic: []string{rtfMagic}, read: refuseRTF,
		},
		{
			mime: mimePDF, aliases: []string{"application/x-pdf"}, exts: []string{"pdf"}, magic: []string{"%PDF-"},
			read: readPDF, isolate: true,
		},
	}
}

// formatOf finds the format of a file by its declared type, its first bytes or its extension. It
// returns nil for plain text and unknown formats.
func formatOf(f File) *format {
	mime, _, _ := strings.Cut(f.MIME, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	ext := extension(f.Name)
	head := string(f.Data[:min(len(f.Data), 64)])
	begins := func(m string) bool { return strings.HasPrefix(head, m) }
	all := formats()
	for _, match := range [...]func(format) bool{
		func(x format) bool { return mime != "" && x.hasType(mime) },
		func(x format) bool { return slices.ContainsFunc(x.magic, begins) },
		func(x format) bool { return slices.Contains(x.exts, ext) },
		func(x format) bool { return ext == "" && slices.ContainsFunc(x.weakMagic, begins) },
	} {
		i := slices.IndexFunc(all, match)
		if i < 0 {
			continue
		}
		if all[i].mime == mimeZip || all[i].mime == mimeODT {
			// a document in a zip archive with another name
			if k := slices.IndexFunc(all, func(x format) bool { return x.hasType(zipKind(f.Data)) }); k >= 0 {
				i = k
			}
		}
		return &all[i]
	}
	return nil
}

// extension returns the extension of a path or URL, without the dot, in lower case.
func extension(name string) string {
	if strings.Contains(name, "://") {
		if i := strings.IndexAny(name, "?#"); i >= 0 {
			name = name[:i]
		}
	}
	return strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
}

// proseExtensions lists the extensions of text files that hold prose, whose language is detected.
var proseExtensions = []string{
	"", "md", "markdown", "mdx", "mkd", "qmd", "rmd", "txt", "text", "rst", "adoc", "asciidoc", "org", "tex", "latex",
}

// isProse reports whether a text file is likely prose, not code or data.
func isProse(f File) bool {
	return slices.Contains(proseExtensions, extension(f.Name)) ||
		strings.HasPrefix(f.MIME, "text/plain") || strings.HasPrefix(f.MIME, "text/markdown")
}

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
