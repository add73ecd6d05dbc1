// Package docs turns input into prepared documents and answers queries from
// them.
//
// The way of a document: [Walk] finds the files of a tree and [File.Read]
// decodes one, or a caller hands in a [Document]. [Prepare] checks it, picks a
// format by MIME type or extension, and lets that format find structure: title,
// description, headings and blocks, each a range of bytes. Package chunk cuts
// the blocks into passages. The same structure gives the outline, by which a
// hit grows to its section, and the abstract, which is made of
// the document's own sentences without a language model.
//
// Everything a prepared document holds is a function of the input and of
// [Version], so the content hash tells whether a document must be prepared,
// embedded and indexed again.
//
// A format is one function in one file and a row in the table of formats.
package docs
