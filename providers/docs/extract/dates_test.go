package extract

import (
	"fmt"
	"testing"
	"time"
)

// TestDates reads a page and a mail with dates in nonstandard formats.
func TestDates(t *testing.T) {
	for stamp, want := range map[string]string{
		"29.12.2023, 22:42:04": "2023-12-29T22:42:04Z", "29 décembre 2023": "2023-12-29T00:00:00Z",
		"Dec 29, 2023": "2023-12-29T00:00:00Z",
		"3/4/2023":     "", "soon": "",
	} {
		for name, data := range map[string]string{
			"a.html": fmt.Sprintf(`<html><head><meta property="article:published_time" `+
				`content="%s"></head><body><p>Text.</p></body></html>`, stamp),
			"a.eml": fmt.Sprintf("From: a@b.example\nSubject: s\nDate: %s\n\nText.\n", stamp),
		} {
			for x, err := range Read(t.Context(), File{Name: name, Data: []byte(data)}, Options{}) {
				got := ""
				if !x.Occurred.IsZero() {
					got = x.Occurred.Format(time.RFC3339)
				}
				if err != nil || got != want {
					t.Errorf("%s of %q: %q, %v; want %q", name, stamp, got, err, want)
				}
			}
		}
	}
}
