package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPDFRepeats keeps headers once, drops page numbers, and keeps tables and text with equal
// beginnings.
func TestPDFRepeats(t *testing.T) {
	var pages []string
	for i := range 5 {
		pages = append(pages, lines(780, "Annual Report")+lines(600, "The same sentence on every page.",
			fmt.Sprintf("Page number %d is told here.", i+1))+
			lines(40, fmt.Sprintf("%d  %d  %d", i, 2*i, 3*i))+lines(20, fmt.Sprintf("- %d -", i+1)))
	}
	got, err := onePDF(t, pdfOf(pages...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	split := strings.Split(got.Text, "\f")
	if len(split) != 5 || got.Metadata[MetaPages] != 5 {
		t.Fatalf("%d pages, %v", len(split), got.Metadata)
	}
	for i, p := range split {
		if n := strings.Count(p, "Annual Report"); n != b2i(i == 0) {
			t.Errorf("page %d has the header %d times", i+1, n)
		}
		for _, want := range []string{
			"The same sentence on every page.", fmt.Sprintf("Page number %d", i+1),
			fmt.Sprintf("%d %d %d", i, 2*i, 3*i),
		} {
			if !strings.Contains(p, want) {
				t.Errorf("page %d lacks %q: %q", i+1, want, p)
			}
		}
		if strings.Contains(p, "- ") {
			t.Errorf("page %d has its number: %q", i+1, p)
		}
	}
}

// TestPDFRepeatsKept keeps lines at page edges that differ in a number, unless it is the page number
// and the line is apart from the text.
func TestPDFRepeatsKept(t *testing.T) {
	title := func(format string, v ...any) string {
		return "BT /F3 16 Tf 72 770 Td (" + fmt.Sprintf(format, v...) + ") Tj ET\n"
	}
	text := lines(700, "The first line of the text,", "the second line of it", "and the third.")
	for _, tt := range []struct {
		name string
		page func(n int) (content string, want []string)
	}{
		{"chapters", func(n int) (string, []string) {
			return title("Chapter %d", n) + text, []string{fmt.Sprintf("# Chapter %d", n)}
		}},
		{"versions", func(n int) (string, []string) {
			return title("Version 2.%d", n) + text, []string{fmt.Sprintf("# Version 2.%d", n)}
		}},
		{"steps", func(n int) (string, []string) {
			s := fmt.Sprintf("Step %d: set valve %d to %d bar", n, n, 15*n)
			return title("%s", s) + text, []string{s}
		}},
		{"steps like text", func(n int) (string, []string) {
			s := fmt.Sprintf("Step %d", n)
			return lines(770, s) + text, []string{s}
		}},
		{"invoices", func(n int) (string, []string) {
			want := []string{
				fmt.Sprintf("Invoice %d", 4700+n), fmt.Sprintf("Amount due %d.50 EUR", 113*n),
				fmt.Sprintf("Due 2024-03-%02d", n),
			}
			return lines(780, want...) + text, want
		}},
		{"forms", func(n int) (string, []string) {
			return lines(780, "Invoice number") + "BT /F1 10 Tf 160 780 Td (" + fmt.Sprint(n) + ") Tj ET " +
					lines(700, "The text is so wide that the number above is not at its edge"),
				[]string{fmt.Sprintf("Invoice number %d", n)}
		}},
		{"prices", func(n int) (string, []string) {
			var rows []string
			for i := range 58 {
				rows = append(rows, fmt.Sprintf("Part %d at %d.25 EUR", 1000+58*n+i, 2*(58*n+i)))
			}
			return lines(780, rows...), rows
		}},
		{"equal rows", func(int) (string, []string) {
			rows := slices.Repeat([]string{"in stock"}, 58)
			return lines(780, rows...), []string{strings.Join(rows, "\n")}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pages []string
			for n := range 6 {
				content, _ := tt.page(n + 1)
				pages = append(pages, content)
			}
			got, err := onePDF(t, pdfOf(pages...), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for n, p := range strings.Split(got.Text, "\f") {
				_, want := tt.page(n + 1)
				for _, s := range want {
					if !strings.Contains(strings.Join(strings.Fields(p), " "), strings.Join(strings.Fields(s), " ")) {
						t.Errorf("page %d lacks %q: %q", n+1, s, p)
					}
				}
			}
		})
	}
}

// TestPDFRepeatsGone drops page numbers with the words next to them.
func TestPDFRepeatsGone(t *testing.T) {
	text := lines(700, "The first line of the text,", "the second line of it", "and the third.")
	at := func(x, y int, s string) string { return fmt.Sprintf("BT /F1 10 Tf %d %d Td (%s) Tj ET\n", x, y, s) }
	for _, tt := range []struct {
		name  string
		page  func(n int) string
		kept  string // on the first page
		never string
	}{
		{"of all", func(n int) string { return at(280, 30, fmt.Sprintf("Page %d of 10", n)) }, "", "Page"},
		{"from 300 on", func(n int) string { return at(280, 30, fmt.Sprint(300+n)) }, "", "30"},
		{"Roman", func(n int) string { return at(280, 30, roman(n)) }, "", "v"},
		{
			"after words", func(n int) string { return at(72, 780, "Handbook") + at(500, 780, fmt.Sprint(n)) },
			"Handbook", "",
		},
		{"left and right", func(n int) string {
			if n%2 > 0 {
				return at(72, 780, "Handbook") + at(500, 780, fmt.Sprint(n))
			}
			return at(72, 780, fmt.Sprint(n)) + at(450, 780, "Rain and sun")
		}, "Handbook", ""},
		{"three lines", func(n int) string {
			return lines(60, "Example Ltd", "1 Example Street") + at(72, 36, fmt.Sprintf("Order 77 | Page %d", n))
		}, "Example Street", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pages []string
			for n := range 6 {
				pages = append(pages, text+tt.page(n+1))
			}
			got, err := onePDF(t, pdfOf(pages...), Options{})
			if err != nil {
				t.Fatal(err)
			}
			split := strings.Split(got.Text, "\f")
			if !strings.Contains(split[0], tt.kept) || tt.never != "" && strings.Contains(got.Text, tt.never) {
				t.Errorf("got %q", split[0])
			}
			for i, p := range split[2:] {
				if strings.TrimSpace(p) != "The first line of the text, the second line of it and the third." {
					t.Errorf("page %d: %q", i+3, p)
				}
			}
		})
	}
}
