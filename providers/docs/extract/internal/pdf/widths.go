package pdf

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Widths of the printable ASCII characters in the standard fonts, which a file may omit. They come
// from the AFM files of the 14 fonts. Italic widths differ little or not at all.
var (
	helvetica = [...]uint16{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
		556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
		611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
		667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
		222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
	}
	helveticaBold = [...]uint16{
		278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
		556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
		611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
		667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
		278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
	}
	times = [...]uint16{
		250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500,
		500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611,
		556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722,
		722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500,
		278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
	}
	timesBold = [...]uint16{
		250, 333, 555, 500, 500, 1000, 833, 278, 333, 333, 500, 570, 250, 333, 250, 278, 500, 500, 500,
		500, 500, 500, 500, 500, 500, 500, 333, 333, 570, 570, 570, 500, 930, 722, 667, 722, 722, 667,
		611, 778, 778, 389, 500, 778, 667, 944, 722, 778, 611, 778, 722, 556, 667, 722, 722, 1000, 722,
		722, 667, 333, 278, 333, 581, 500, 333, 500, 556, 444, 556, 444, 333, 500, 556, 278, 333, 556,
		278, 833, 556, 500, 556, 556, 444, 389, 333, 556, 500, 722, 500, 500, 444, 394, 220, 394, 520,
	}
)

// standardWidths sets Measured if a font without widths is a standard font.
func (t *font) standardWidths() {
	for _, known := range []string{"Helvetica", "Arial", "Times", "Courier", "Symbol", "ZapfDingbats"} {
		t.Measured = t.Measured || strings.HasPrefix(t.Name, known)
	}
}

// guessWidth returns the width of characters in a font without widths, taken from the most similar
// standard font. Accents do not count.
func (t *font) guessWidth(s string) float64 {
	bold := strings.Contains(t.Name, "Bold")
	table := &helvetica
	switch {
	case strings.HasPrefix(t.Name, "Courier"):
		return 600
	case strings.HasPrefix(t.Name, "ZapfDingbats"):
		return 780
	case strings.HasPrefix(t.Name, "Times") && bold:
		table = &timesBold
	case strings.HasPrefix(t.Name, "Times"):
		table = &times
	case bold:
		table = &helveticaBold
	}
	width := 0.0
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r >= ' ' && r < 0x7F:
			width += float64(table[r-' '])
		case r < 0x300 || r > 0x36F:
			width += 556
		}
	}
	return width
}
