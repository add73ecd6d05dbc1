// Package extract reads the files that people keep documentation in: the bytes
// of a PDF, a word processor's document, a web page, a mail or an archive become
// text in UTF-8, as Markdown where the file has structure.
//
// What is text already stays as it is, byte for byte but for its encoding, so
// that a citation's lines are those of the file. Everything else is converted,
// and [Text.Format] says from what. A page ends with a form feed, as in the
// output of other converters, so that a place in the text knows its page.
//
// A file is hostile until it is read: each reader bounds what it unpacks, how deep
// it follows and how much it writes by [Options], looks at its context often
// enough to stop within a moment, and turns a panic of a library into an error.
// A bad member of an archive, like a bad file, fails alone.
//
// No reader of this package is known to hang or to exceed its limits, but code that is
// large, or not ours, may. A [Pool] gives it a process of its own, which is killed
// when a file takes too long or too much memory.
//
// PDF: pages in the order of reading, columns one after the other. Lines that belong
// to a paragraph are joined, words that are hyphenated at the end of a line put
// together; lines in larger letters are headings, those in letters of equal width
// code. Headers and footers that repeat are kept once, page numbers dropped; a line in
// which anything but the page's number differs from page to page stays. Cells
// of a table stand on one line, three spaces between them. Files that are encrypted
// but open without a password are read; pages that are only images have no text,
// and a file of such pages is an error that names the remedy.
//
// A format is a reader in its own file and a row in the table of formats.
package extract
