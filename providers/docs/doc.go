// Package docs prepares documents for the index and answers queries from them.
//
// [Walk] finds the files of a tree and [File.Read] decodes them; a caller can also supply a
// [ragctx.Document]. [Prepare] checks a document and picks a format by MIME type or extension. The format
// finds the structure: title, description, headings and blocks, each a range of bytes. Package
// chunk splits the blocks into chunks. The structure also provides the outline, which extends a hit
// to its section, and the abstract, which consists of the document's own sentences and needs no
// language model.
//
// A prepared document depends only on the input and on [Version]. The content hash therefore shows
// whether a document must be prepared, embedded and indexed again.
//
// A format is one function in one file and a row in the table of formats.
package docs
