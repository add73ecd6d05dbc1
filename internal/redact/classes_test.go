package redact_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/redact"
)

// grid holds the parts of the generated wordings of a language, one a line. In a frame, X is a word for a secret,
// V and W are values, U is a user name, and ⏎ is the end of a line.
type grid struct {
	language string
	floor    float64           // the share that may stay in clear
	nouns    map[string]string // by the kind of value
	values   map[string]string
	frames   map[string]string
}

// wordings calls each with every wording, its frame and its secrets.
func (g grid) wordings(each func(frame, text string, secrets []string)) {
	for kind, frames := range g.frames {
		nouns, values := split(g.nouns[kind]), split(g.values[kind])
		for n, frame := range split(frames) {
			for m, noun := range nouns {
				if !strings.Contains(frame, " ") && strings.Contains(noun, " ") {
					continue // X=V is written with a name
				}
				v, w := values[(n+m)%len(values)], values[(n+m+1)%len(values)]
				secrets := []string{}
				text := fill(strings.ReplaceAll(frame, "⏎", "\n"), noun, v, w, &secrets)
				each(frame, text, secrets)
			}
		}
	}
}

// fill puts noun and values for the capitals in a frame.
func fill(frame, noun, v, w string, secrets *[]string) string {
	var b strings.Builder
	for k, r := range frame {
		end := k + 1
		alone := r < 0x80 && (k == 0 || !letter(frame[k-1])) && (end == len(frame) || !letter(frame[end]))
		switch {
		case alone && r == 'X':
			b.WriteString(noun)
		case alone && r == 'V':
			b.WriteString(v)
			*secrets = append(*secrets, v)
		case alone && r == 'W':
			b.WriteString(w)
			*secrets = append(*secrets, w)
		case alone && r == 'U' && (k == 0 || frame[k-1] != '-'):
			b.WriteString("mkeller")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 || c == '_' }

func split(list string) []string { return strings.Split(strings.Trim(list, "\n"), "\n") }

// TestClasses counts the generated wordings whose secret stays in clear, by language.
func TestClasses(t *testing.T) {
	for _, g := range grids {
		n, all := 0, 0
		missed := map[string]int{}
		g.wordings(func(frame, text string, secrets []string) {
			all++
			got, _ := redact.Redact(text)
			for _, s := range secrets {
				if inClear(got, s) {
					n++
					missed[frame]++
					t.Logf("%s: %q keeps %q: %q", frame, text, s, got)
					break
				}
			}
		})
		t.Logf("%s: %d of %d wordings are in clear", g.language, n, all)
		if float64(n) > g.floor*float64(all) {
			t.Errorf("%s: %d of %d wordings are in clear; at most %g may be: %v", g.language, n, all, g.floor, missed)
		}
	}
}

// TestHarmlessClasses checks that no harmless sentence about a secret is changed.
func TestHarmlessClasses(t *testing.T) {
	n := 0
	for _, h := range harmlessGrids {
		for _, noun := range split(h.nouns) {
			for _, frame := range split(h.frames) {
				n++
				text := strings.ReplaceAll(strings.ReplaceAll(frame, "X", noun), "⏎", "\n")
				if got, _ := redact.Redact(text); got != text {
					t.Errorf("%q is changed to %q", text, got)
				}
			}
		}
	}
	t.Logf("%d harmless texts", n)
}
