package web

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/web/internal/html"
)

// bar draws a share, 0 to 1, as a bar of a ground.
func bar(share float64) html.Part {
	share = min(max(share, 0), 1)
	return html.F(`<svg class="chart share" aria-hidden="true" height="6">
			<rect class="ground" width="100%" height="6" rx="1"></rect>
			<rect class="bar" width={} height="6" rx="1"></rect></svg>`,
		percent(share))
}

// part is a part of a stacked bar.
type part struct {
	size         float64
	class, title string
}

// stack draws parts of a whole one after the other. label describes all of it.
func stack(whole float64, label string, parts ...part) html.Part {
	const height = "14"
	list := html.List{html.F(`<rect class="ground" width="100%" height={}></rect>`, height)}
	at := 0.0
	for _, p := range parts {
		if p.size <= 0 || whole <= 0 {
			continue
		}
		list = append(list, html.F(`<rect class={} x={} width={} height={}><title>{}</title></rect>`,
			p.class, percent(at/whole), percent(p.size/whole), height, p.title))
		at += p.size
	}
	return html.F(`<svg class="chart stack" role="img" aria-label={} height={}>{}</svg>`, label, height, list)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }

// decimal returns a score from 0 to 1 with two digits.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// grouped returns a whole number with thin spaces between groups of three digits.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// amount returns a number with its noun.
func amount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, is := strings.CutSuffix(noun, "y"); is {
		noun = stem + "ie"
	} else if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return fmt.Sprintf("%s %ss", grouped(n), noun)
}
