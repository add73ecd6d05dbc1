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
// A format is a reader in its own file and a row in the table of formats.
package extract
