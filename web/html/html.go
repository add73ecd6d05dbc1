// Package html builds HTML and SVG from Go values. Every text and attribute value is escaped, and
// there is no way to write markup from a string. Addresses with a scheme that can run code are left
// out, and attributes that hold scripts or styles panic: their names are constants of the program.
package html

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Part is a text, an attribute, an element, or a list of them.
type Part interface{ addTo(*Element) }

// Text is escaped text.
type Text string

func (t Text) addTo(e *Element) { e.children = append(e.children, t) }

// List is a sequence of parts. A nil part is left out.
type List []Part

func (l List) addTo(e *Element) {
	for _, p := range l {
		if p != nil {
			p.addTo(e)
		}
	}
}

// Attr is an attribute.
type Attr struct{ Name, Value string }

func (a Attr) addTo(e *Element) { e.attrs = append(e.attrs, a) }

// A returns an attribute. It panics for names of attributes that hold scripts or styles. An address
// that is neither of this site nor http, https or mailto gives no attribute.
func A(name, value string) Part {
	switch {
	case strings.HasPrefix(name, "on"), strings.HasPrefix(name, "hx-on"), name == "style", name == "srcdoc":
		panic("html: the attribute " + name + " is not allowed")
	case slices.Contains(addresses, name) && !safe(value):
		return nil
	}
	return Attr{name, value}
}

// Flag returns an attribute without a value if on is true.
func Flag(name string, on bool) Part {
	if !on {
		return nil
	}
	return A(name, "")
}

// Int returns an attribute with a whole number.
func Int(name string, n int) Part { return A(name, strconv.Itoa(n)) }

// If returns its parts if on is true.
func If(on bool, parts ...Part) Part {
	if !on {
		return nil
	}
	return List(parts)
}

// addresses are the attributes whose values are addresses.
var addresses = []string{"href", "src", "action", "formaction", "poster", "data", "hx-get", "hx-post", "hx-put", "hx-delete", "data-url"}

// safe reports whether following an address runs no code.
func safe(address string) bool {
	if strings.ContainsFunc(address, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return true
	case "":
		return u.Host == "" && strings.IndexAny(address, "/?#") == 0 && !strings.HasPrefix(address, "//")
	}
	return false
}

// Element is an element with its attributes and children.
type Element struct {
	name     string
	attrs    []Attr
	children []Part // texts and elements
}

func (e *Element) addTo(to *Element) { to.children = append(to.children, e) }

// E returns an element. Its name may have classes and an id, as in "p.note.small#hint". Nil parts are
// left out.
func E(name string, parts ...Part) *Element {
	name, id, _ := strings.Cut(name, "#")
	name, classes, _ := strings.Cut(name, ".")
	if (name == "script" || name == "style") && slices.ContainsFunc(parts, func(p Part) bool { _, is := p.(Attr); return !is }) {
		panic("html: scripts and styles are files")
	}
	e := &Element{name: name}
	if classes != "" {
		e.attrs = append(e.attrs, Attr{"class", strings.ReplaceAll(classes, ".", " ")})
	}
	if id != "" {
		e.attrs = append(e.attrs, Attr{"id", id})
	}
	List(parts).addTo(e)
	return e
}

// T returns an element with a text.
func T(name, text string) *Element { return E(name, Text(text)) }

// Page returns a document with a root element.
func Page(root *Element) io.WriterTo { return document{root} }

type document struct{ root *Element }

// WriteTo implements [io.WriterTo].
func (d document) WriteTo(w io.Writer) (int64, error) {
	var buf bytes.Buffer
	buf.WriteString("<!DOCTYPE html>\n")
	d.root.write(&buf)
	return buf.WriteTo(w)
}

// Fragment returns parts of a document: texts and elements.
func Fragment(parts ...Part) io.WriterTo { return fragment{E("", parts...)} }

type fragment struct{ holder *Element }

// WriteTo implements [io.WriterTo].
func (f fragment) WriteTo(w io.Writer) (int64, error) {
	var buf bytes.Buffer
	f.holder.writeChildren(&buf)
	return buf.WriteTo(w)
}

// void are the elements that have no end tag.
var void = []string{"br", "hr", "img", "input", "link", "meta", "wbr", "col"}

func (e *Element) write(buf *bytes.Buffer) {
	buf.WriteByte('<')
	buf.WriteString(e.name)
	for _, a := range e.attrs {
		buf.WriteByte(' ')
		buf.WriteString(a.Name)
		if a.Value != "" || a.Name == "value" || a.Name == "alt" {
			buf.WriteString(`="`)
			escape(buf, a.Value)
			buf.WriteByte('"')
		}
	}
	buf.WriteByte('>')
	if slices.Contains(void, e.name) {
		return
	}
	if e.name == "pre" || e.name == "textarea" {
		buf.WriteByte('\n') // readers drop the first line break
	}
	e.writeChildren(buf)
	buf.WriteString("</")
	buf.WriteString(e.name)
	buf.WriteByte('>')
}

func (e *Element) writeChildren(buf *bytes.Buffer) {
	for _, c := range e.children {
		switch c := c.(type) {
		case *Element:
			c.write(buf)
		case Text:
			escape(buf, string(c))
		}
	}
}

// escapes are the characters with a meaning in texts or in values with double quotes. Characters that
// HTML forbids become U+FFFD.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\x00", "\ufffd")

func escape(buf *bytes.Buffer, s string) {
	_, _ = escapes.WriteString(buf, strings.ToValidUTF8(s, "\ufffd"))
} // a buffer cannot fail
