package web

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/web/html"
)

// bar draws a share, 0 to 1, as a bar of a ground.
func bar(share float64) html.Part {
	share = min(max(share, 0), 1)
	return html.E("svg.chart.share", html.A("aria-hidden", "true"), html.A("height", "6"),
		html.E("rect.ground", html.A("width", "100%"), html.A("height", "6"), html.A("rx", "1")),
		html.E("rect.bar", html.A("width", percent(share)), html.A("height", "6"), html.A("rx", "1")))
}

// part is a part of a stacked bar.
type part struct {
	size         float64
	class, title string
}

// stack draws parts of a whole one after the other. label describes all of it.
func stack(whole float64, label string, parts ...part) html.Part {
	const height = "14"
	list := html.List{html.E("rect.ground", html.A("width", "100%"), html.A("height", height))}
	at := 0.0
	for _, p := range parts {
		if p.size <= 0 || whole <= 0 {
			continue
		}
		list = append(list, html.E("rect."+p.class, html.A("x", percent(at/whole)), html.A("width", percent(p.size/whole)),
			html.A("height", height), html.T("title", p.title)))
		at += p.size
	}
	return html.E("svg.chart.stack", html.A("role", "img"), html.A("aria-label", label), html.A("height", height), list)
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
