package extract

import "github.com/gabriel-vasile/mimetype"

// kindOf describes the likely type of binary data, in brackets after a space; "" if unknown.
func kindOf(b []byte) string {
	m := mimetype.Detect(b[:min(len(b), sniffLen)])
	if m.Is("application/octet-stream") || m.Is("text/plain") {
		return ""
	}
	return " (" + m.String() + ")"
}
