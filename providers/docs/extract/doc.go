// Package extract converts documentation files to text: a PDF, a word processor document, a web
// page, a mail or an archive becomes UTF-8, as Markdown where the file has structure.
//
// Files that are already text stay byte for byte as they are, except for the encoding, so that line
// numbers of citations match the file. Everything else is converted, and [Text.Format] names the
// source format. A page ends with a form feed, as in the output of other converters, so that each
// position in the text has a page number.
//
// Every file is treated as hostile. [Options] bound the unpacked bytes, the nesting depth and the
// length of the text. Readers check their context often enough to stop quickly, and a panic in a
// library becomes an error. A bad member of an archive fails alone, like a bad file.
//
// No reader of this package is known to hang or to exceed its limits, but large or third-party code
// may. A [Pool] runs such readers in separate processes and kills a process when a file takes too
// long or too much memory.
//
// PDF: pages are converted in reading order, columns one after the other. Lines of a paragraph are
// joined, and hyphenated words at line ends are put together. Lines in larger letters become
// headings, lines in a fixed-width font become code. Repeated headers and footers are kept once;
// page numbers are dropped. A line that differs from page to page by more than the page number
// stays. Cells of a table share a line, separated by three spaces. Encrypted files that open
// without a password are read. Pages that are only images have no text; if all pages are images,
// the error names the remedy.
//
// Each format has a row in the table in formats.go and a reader in its own file. A document in a zip archive, such as
// .docx, is read by a case of readOffice.
package extract
