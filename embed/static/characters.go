package static

import (
	_ "embed" // for the table of characters
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// charactersText says what the reference tokenizer does to each character; see
// train/characters.py, which writes it.
//
//go:embed characters.txt
var charactersText string

// class is a set of properties of a character.
type class uint8

const (
	dropped class = 1 << iota // removed from cleaned text
	space                     // ends a word
	punct                     // is a word of its own
	han                       // the same, of ideographs
	mark                      // removed where accents are stripped
	letter                    // or a number: what coverage counts
)

// change is what a character becomes where accents are stripped and in lower
// case; 0 ends each list, and an empty one means no change.
type change struct {
	strip, lower [4]rune
}

const (
	pageBits = 8
	pageSize = 1 << pageBits
	numPages = (utf8.MaxRune + 1) >> pageBits
)

// page has, for each of some neighbours, its class in the low byte and above it
// the number of its change, 0 for none.
type page [pageSize]uint32

// characters looks up what becomes of a character. Equal pages are stored once.
type characters struct {
	index   [numPages]uint16
	pages   []page
	changes []change
}

// loadCharacters returns the table, which takes some 2 ms the first time.
var loadCharacters = sync.OnceValue(func() *characters {
	c, err := parseCharacters(charactersText)
	if err != nil {
		panic("static: " + err.Error()) // the text is part of the program
	}
	return c
})

// of returns class and change of a character.
func (c *characters) of(r rune) (class, *change) {
	e := c.pages[c.index[r>>pageBits]][r&(pageSize-1)]
	if e>>8 == 0 {
		return class(e), nil
	}
	return class(e), &c.changes[e>>8]
}

// parseCharacters reads the lines that train/characters.py describes.
func parseCharacters(text string) (*characters, error) {
	c := &characters{pages: make([]page, 1), changes: make([]change, 1)}
	kinds := map[string]class{"d": dropped, "s": space, "p": punct, "h": han, "m": mark, "n": letter}
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := hexNumbers(rest)
		if err != nil {
			return nil, fmt.Errorf("characters: line %q: %w", line, err)
		}
		switch {
		case kinds[kind] != 0:
			for r := n[0]; r <= n[1]; r++ {
				*c.entry(r) |= uint32(kinds[kind])
			}
		case kind == "l":
			for r := n[0]; r <= n[1]; r += n[2] {
				c.change(r).lower = [4]rune{r + n[3]}
			}
		case kind == "x":
			copy(c.change(n[0]).strip[:3], n[1:])
		case kind == "y":
			copy(c.change(n[0]).lower[:3], n[1:])
		default:
			return nil, fmt.Errorf("characters: line %q: unknown kind", line)
		}
	}
	c.share()
	return c, nil
}

func hexNumbers(s string) ([]rune, error) {
	var numbers []rune
	for f := range strings.FieldsSeq(s) {
		n, err := strconv.ParseInt(f, 16, 32)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, rune(n))
	}
	if len(numbers) < 2 {
		return nil, strconv.ErrSyntax
	}
	return numbers, nil
}

// entry returns the place of a character, in a page of its own while the table
// is made.
func (c *characters) entry(r rune) *uint32 {
	i := r >> pageBits
	if c.index[i] == 0 {
		c.index[i] = uint16(len(c.pages))
		c.pages = append(c.pages, page{})
	}
	return &c.pages[c.index[i]][r&(pageSize-1)]
}

// change returns the change of a character, a new one if it had none.
func (c *characters) change(r rune) *change {
	e := c.entry(r)
	if *e>>8 == 0 {
		*e |= uint32(len(c.changes)) << 8
		c.changes = append(c.changes, change{})
	}
	return &c.changes[*e>>8]
}

// share makes equal pages one.
func (c *characters) share() {
	seen := make(map[page]uint16)
	to := make([]uint16, len(c.pages))
	var pages []page
	for i, p := range c.pages {
		at, ok := seen[p]
		if !ok {
			at = uint16(len(pages))
			seen[p] = at
			pages = append(pages, p)
		}
		to[i] = at
	}
	for i, at := range c.index {
		c.index[i] = to[at]
	}
	c.pages = append([]page(nil), pages...)
}

// Hangul syllables decompose by a formula (The Unicode Standard, 3.12).
const (
	hangulFirst, hangulLast = 0xAC00, 0xD7A3
	jamoL, jamoV, jamoT     = 0x1100, 0x1161, 0x11A7
	vowels, trailers        = 21, 28
)

// jamo returns the two or three parts of a Hangul syllable; 0 ends the list.
func jamo(r rune) [4]rune {
	i := r - hangulFirst
	parts := [4]rune{jamoL + i/(vowels*trailers), jamoV + i/trailers%vowels}
	if t := i % trailers; t != 0 {
		parts[2] = jamoT + t
	}
	return parts
}
