package ragctx_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updatePictures = flag.Bool("update", false, "write the pictures of docs/pictures")

// picture is a drawing of boxes and arrows, 700 units wide.
type picture struct {
	title  string
	height int
	boxes  []box
	arrows []arrow
}

// box is a rectangle with a title and notes below it. Its kind is a class of pictureStyle.
type box struct {
	id, kind   string
	x, y, w, h int
	text       []string
}

// arrow leads from the edge of one box to the edge of another one.
type arrow struct{ from, to string }

const pictureStyle = `text{font:14px system-ui,sans-serif;fill:#1f2328;text-anchor:middle}.note{font-size:12px;fill:#59636e}rect{stroke:#59636e;fill:#f6f8fa}.agent{fill:#ddf4ff;stroke:#0969da}.store{fill:#fff8c5;stroke:#9a6700}` +
	`.out{fill:#dafbe1;stroke:#1a7f37}.lost{fill:#ffebe9;stroke:#cf222e;stroke-dasharray:5 3}.frame{fill:none;stroke-dasharray:5 3}` +
	`path{fill:none;stroke:#59636e;stroke-width:1.5}#head path{fill:#59636e;stroke:none}` +
	`@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.note{fill:#9198a1}rect{stroke:#9198a1;fill:#151b23}.agent{fill:#0c2d6b;stroke:#4493f8}` +
	`.store{fill:#3b2300;stroke:#d29922}.out{fill:#033a16;stroke:#3fb950}.lost{fill:#490202;stroke:#f85149}.frame{fill:none}path{stroke:#9198a1}#head path{fill:#9198a1}}`

// draw returns the picture as SVG.
func (p picture) draw(t *testing.T) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 %d" width="700" height="%d" role="img">`+"\n", p.height, p.height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n", escaped(p.title), pictureStyle)
	b.WriteString(`<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>` + "\n")
	at := map[string]box{}
	for _, x := range p.boxes {
		at[x.id] = x
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", x.kind, x.x, x.y, x.w, x.h)
		y := x.y + x.h/2 + 5 - 9*(len(x.text)-1)
		if x.kind == "frame" {
			y = x.y + 18
		}
		for i, line := range x.text {
			class := "name"
			if i > 0 {
				class = "note"
			}
			if 7*len([]rune(line)) > x.w {
				t.Errorf("%s: %q is too long for its box", p.title, line)
			}
			fmt.Fprintf(&b, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x.x+x.w/2, y+18*i, escaped(line))
		}
		if x.x < 0 || x.x+x.w > 700 || x.y+x.h > p.height {
			t.Errorf("%s: the box %s is outside", p.title, x.id)
		}
	}
	for _, a := range p.arrows {
		from, to := at[a.from], at[a.to]
		if from.w == 0 || to.w == 0 {
			t.Fatalf("%s: an arrow from %q to %q", p.title, a.from, a.to)
		}
		x1, x2 := ends(from.x, from.w, to.x, to.w)
		y1, y2 := ends(from.y, from.h, to.y, to.h)
		fmt.Fprintf(&b, `<path d="M%d %dL%d %d" marker-end="url(#head)"/>`+"\n", x1, y1, x2, y2)
	}
	return append(b.Bytes(), "</svg>\n"...)
}

// ends returns where an arrow starts and ends on one axis: at the edges that face each other, or
// in the middle of the part that both boxes share.
func ends(from, size, to, toSize int) (start, end int) {
	low, high := max(from, to), min(from+size, to+toSize)
	switch {
	case low < high:
		return (low + high) / 2, (low + high) / 2
	case from < to:
		return from + size, to
	}
	return from, to + toSize
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// TestPictures compares the pictures of the pages with their descriptions. With -update it draws them.
func TestPictures(t *testing.T) {
	const dir = "docs/pictures"
	for name, p := range pictures {
		path, want := filepath.Join(dir, name+".svg"), p.draw(t)
		if *updatePictures {
			if err := os.WriteFile(path, want, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its description draws (%v); run: go test . -run TestPictures -update", path, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(pictures) {
		t.Errorf("%s has %d files for %d pictures (%v)", dir, len(files), len(pictures), err)
	}
}
