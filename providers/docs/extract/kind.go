package extract

import "github.com/gabriel-vasile/mimetype"

// kindOf names what binary data seems to be, in brackets and after a space; ""
// if it is not known.
func kindOf(b []byte) string {
	m := mimetype.Detect(b[:min(len(b), sniffLen)])
	if m.Is("application/octet-stream") || m.Is("text/plain") {
		return ""
	}
	return " (" + m.String() + ")"
}
