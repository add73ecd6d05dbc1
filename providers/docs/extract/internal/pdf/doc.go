// Package pdf reads the glyphs of a PDF file: which characters stand where on
// each page, how wide and how large, in the order in which they are drawn.
//
// It follows ISO 32000-1 as far as text needs it: cross-reference tables and
// streams, object streams, the filters of data that is not an image, encryption
// that opens without a password, simple and composite fonts, forms. A file whose
// cross-references are damaged is read by a scan for its objects.
//
// A file is hostile until it is read. What is unpacked, how often and how deep is
// bounded; every object is parsed and every object stream unpacked once; loops
// of references end. What is damaged is passed over: a page shows what can be read.
package pdf
