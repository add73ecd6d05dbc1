package extract

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"
)

// listLevels is the number of levels of a Word list.
const listLevels = 9

// maxLabel bounds the label of an item in bytes.
const maxLabel = 60

// continuesItem marks a paragraph that continues a list item: its bullet is blank.
const continuesItem = " "

// listLevel is the numbering of one list level.
type listLevel struct {
	format string // "decimal", "bullet", …
	text   string // "%1.%2."
	start  int
	legal  bool // all numbers in the label are decimal
	style  string
}

// numbering holds the list definitions and counters of a document.
type numbering struct {
	abstract map[int]*[listLevels]listLevel
	// styleLinks holds lists that are defined by a style, with the style's id.
	styleLinks map[int]string
	nums       map[int]listUse
	// counts holds the current numbers by abstract list. Lists that share an abstract list continue
	// its numbers.
	counts map[int]*[listLevels]int
	// started is the set of lists whose start overrides have been applied.
	started map[int]bool
}

// listUse is a list instance that paragraphs refer to.
type listUse struct {
	abstract int
	starts   map[int]int
}

func (d *docx) readNumbering(ctx context.Context, name string) error {
	n := &d.nums
	*n = numbering{
		abstract: make(map[int]*[listLevels]listLevel), styleLinks: make(map[int]string), nums: make(map[int]listUse),
		counts: make(map[int]*[listLevels]int), started: make(map[int]bool),
	}
	return d.parts.visitOptional(ctx, name, func(s *xmlScanner) error {
		return s.children(func(string, xml.StartElement) error {
			return s.children(func(tag string, e xml.StartElement) error {
				switch {
				case len(n.abstract)+len(n.nums) >= maxStyles:
				case tag == "w:abstractNum":
					return n.readAbstract(s, intAttr(e, "abstractNumId", -1, -1, 1<<30))
				case tag == "w:num":
					return n.readNum(s, intAttr(e, "numId", -1, -1, 1<<30))
				}
				return nil
			}, nil)
		}, nil)
	})
}

func (n *numbering) readAbstract(s *xmlScanner, id int) error {
	levels := new([listLevels]listLevel)
	for i := range levels {
		levels[i] = listLevel{format: "bullet", start: 1}
	}
	n.abstract[id] = levels
	return s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "w:numStyleLink":
			n.styleLinks[id] = attr(e, "val")
		case "w:lvl":
			l := &levels[intAttr(e, "ilvl", 0, 0, listLevels-1)]
			*l = listLevel{format: "decimal", start: 0}
			return s.children(func(tag string, e xml.StartElement) error { l.set(tag, e); return nil }, nil)
		}
		return nil
	}, nil)
}

func (l *listLevel) set(tag string, e xml.StartElement) {
	switch tag {
	case "w:start":
		l.start = intAttr(e, "val", 1, 0, 1e6)
	case "w:numFmt":
		l.format = attr(e, "val")
	case "w:lvlText":
		l.text = attr(e, "val")
	case "w:isLgl":
		l.legal = isOn(e)
	case "w:pStyle":
		l.style = attr(e, "val")
	}
}

func (n *numbering) readNum(s *xmlScanner, id int) error {
	use := listUse{abstract: -1, starts: make(map[int]int)}
	err := s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "w:abstractNumId":
			use.abstract = intAttr(e, "val", -1, -1, 1<<30)
		case "w:lvlOverride":
			level := intAttr(e, "ilvl", 0, 0, listLevels-1)
			return s.children(func(tag string, e xml.StartElement) error {
				if tag == "w:startOverride" {
					use.starts[level] = intAttr(e, "val", 1, 0, 1e6)
				}
				return nil
			}, nil)
		}
		return nil
	}, nil)
	n.nums[id] = use
	return err
}

// levels returns the numbering of a list. It follows a link to a list that a style defines.
func (n *numbering) levels(use listUse, styles wordStyles) *[listLevels]listLevel {
	if link, ok := n.styleLinks[use.abstract]; ok {
		if linked, ok := n.nums[styles[link].num.num]; ok && n.abstract[linked.abstract] != nil {
			return n.abstract[linked.abstract]
		}
	}
	return n.abstract[use.abstract]
}

// label counts an item and returns its level and label: "-" for a bullet, "" for no label,
// otherwise for example "3." or "(b)". It returns false if the paragraph is not a list item.
func (n *numbering) label(ref numRef, styleID string, styles wordStyles) (level int, label string, ok bool) {
	if ref.num <= 0 {
		return 0, "", false
	}
	use, ok := n.nums[ref.num]
	if !ok {
		return max(ref.level, 0), "-", true // the definition is missing, but it is a list item
	}
	levels := n.levels(use, styles)
	if levels == nil {
		return max(ref.level, 0), "-", true
	}
	if level = ref.level; level < 0 {
		level = 0
		for i, l := range levels {
			if l.style != "" && l.style == styleID {
				level = i
			}
		}
	}
	n.count(ref.num, use, levels, level)
	return level, n.text(use.abstract, levels, level), true
}

// count advances the counters of a list.
func (n *numbering) count(num int, use listUse, levels *[listLevels]listLevel, level int) {
	c := n.counts[use.abstract]
	if c == nil {
		c = new([listLevels]int)
		for i, l := range levels {
			c[i] = l.start - 1
		}
		n.counts[use.abstract] = c
	}
	if !n.started[num] {
		n.started[num] = true
		for i, start := range use.starts {
			c[i] = start - 1
		}
	}
	for i := range level {
		c[i] = max(c[i], levels[i].start) // a skipped level counts as started
	}
	c[level]++
	for i := level + 1; i < listLevels; i++ {
		c[i] = levels[i].start - 1
	}
}

// text formats the label of a level.
func (n *numbering) text(abstract int, levels *[listLevels]listLevel, level int) string {
	l := levels[level]
	switch l.format {
	case "bullet":
		if l.text != "" && strings.TrimSpace(l.text) == "" {
			return continuesItem
		}
		return "-"
	case "none":
		return ""
	}
	c := n.counts[abstract]
	var b strings.Builder
	for i := 0; i < len(l.text) && b.Len() < maxLabel; i++ {
		at := 0
		if l.text[i] == '%' && i+1 < len(l.text) {
			at = int(l.text[i+1] - '0')
		}
		if at < 1 || at > listLevels {
			b.WriteByte(l.text[i])
			continue
		}
		i++
		format := levels[at-1].format
		if l.legal {
			format = "decimal"
		}
		b.WriteString(ordinalText(c[at-1], format))
	}
	return oneLine(b.String())
}

// ordinalText formats a number in a list format.
func ordinalText(n int, format string) string {
	switch format {
	case "upperRoman":
		return strings.ToUpper(roman(n))
	case "lowerRoman":
		return roman(n)
	case "upperLetter":
		return strings.ToUpper(alphabetic(n))
	case "lowerLetter":
		return alphabetic(n)
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "none", "bullet":
		return ""
	}
	return strconv.Itoa(n)
}

// alphabetic formats n as a…z, aa, bb, as Word does.
func alphabetic(n int) string {
	if n < 1 || n > 26*10 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('a'+(n-1)%26)), 1+(n-1)/26)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, d := range [...]struct {
		value int
		sign  string
	}{
		{1000, "m"},
		{900, "cm"},
		{500, "d"},
		{400, "cd"},
		{100, "c"},
		{90, "xc"},
		{50, "l"},
		{40, "xl"},
		{10, "x"},
		{9, "ix"},
		{5, "v"},
		{4, "iv"},
		{1, "i"},
	} {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.sign)
		}
	}
	return b.String()
}
