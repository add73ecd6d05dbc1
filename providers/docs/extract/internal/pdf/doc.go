// Package pdf reads the glyphs of a PDF file: the characters on each page with their positions,
// widths and sizes, in drawing order.
//
// It implements the parts of ISO 32000-1 that text extraction needs: cross-reference tables and
// streams, object streams, the filters except image filters, encryption with an empty password,
// simple and composite fonts, and forms. If the cross-references are damaged, the file is scanned
// for its objects.
//
// Every file is treated as hostile. The number of unpacked bytes, the number of operations and the
// nesting depth are bounded. Every object is parsed once and every object stream unpacked once.
// Reference cycles end. Damaged parts are skipped: a page yields whatever can be read.
package pdf
