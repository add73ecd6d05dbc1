// Package html writes HTML and SVG from markup that is part of the program and arguments that are not. Every
// argument is escaped, and no text that is made at run time can be markup. Addresses with a scheme that can run
// code are left out.
package html

import (
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Part is a piece of a page: escaped texts and elements. A nil part is nothing.
type Part interface{ addTo(b *strings.Builder) }

// Text is escaped text.
type Text string

func (t Text) addTo(b *strings.Builder) { escape(b, string(t)) }

// List is a sequence of parts.
type List []Part

func (l List) addTo(b *strings.Builder) {
	for _, p := range l {
		if p != nil {
			p.addTo(b)
		}
	}
}

// If returns its parts if on is true.
func If(on bool, parts ...Part) Part {
	if !on {
		return nil
	}
	return List(parts)
}

// When returns the value of an attribute if on is true. Otherwise the attribute is left out.
func When(on bool, value any) any {
	if !on {
		return nil
	}
	return value
}

// template is markup of the program. Only constants convert to it outside this package.
type template string

// markup is markup that is complete.
type markup string

func (m markup) addTo(b *strings.Builder) { b.WriteString(string(m)) }

// F returns markup with an argument in each place {}. A place is the content of an element or the whole value of an
// attribute, as in
//
//	<a class="button" href={}>{}</a>
//
// A content is a text, a number or a [Part]. The value of an attribute is a text or a number; true is an attribute
// without a value, and false and nil leave the attribute out, as does an address that is neither of this site nor
// http, https or mailto. Each line of the markup may be indented: a line break is a space between two words, and
// nothing beside a tag or a place. F panics if places and arguments differ in number, and for a place elsewhere.
func F(t template, args ...any) Part {
	var b strings.Builder
	rest, tag, within := string(t), "", false // within a tag
	literal := func(s string) {
		write(&b, s)
		if at := strings.LastIndexAny(s, "<>"); at >= 0 {
			within = s[at] == '<'
		}
		if at := strings.LastIndexByte(s, '<'); at >= 0 {
			tag = s[at+1:]
		}
		if strings.HasSuffix(s, ">") && (strings.HasPrefix(tag, "pre") || strings.HasPrefix(tag, "textarea")) {
			b.WriteByte('\n') // readers drop the first line break
		}
	}
	for _, arg := range args {
		before, after, found := strings.Cut(rest, "{}")
		if !found {
			panic("html: more arguments than places in " + string(t))
		}
		rest = after
		value, is := strings.CutSuffix(before, "=")
		space := strings.LastIndexAny(value, " \t\n")
		if is = is && space >= 0; is {
			before = value[:space]
		}
		if literal(before); within != is {
			panic("html: a place is neither a content nor the whole value of an attribute in " + string(t))
		}
		if is {
			attribute(&b, strings.ToLower(value[space+1:]), arg)
			continue
		}
		if strings.HasPrefix(tag, "script") || strings.HasPrefix(tag, "style") {
			panic("html: scripts and styles are files")
		}
		content(&b, arg)
	}
	if strings.Contains(rest, "{}") {
		panic("html: fewer arguments than places in " + string(t))
	}
	literal(rest)
	return markup(b.String())
}

// write writes markup without its indentation.
func write(b *strings.Builder, s string) {
	for first := true; ; first = false {
		line, rest, more := strings.Cut(s, "\n")
		if !first {
			line = strings.TrimLeft(line, "\t")
		}
		b.WriteString(line)
		if !more {
			return
		}
		next := strings.TrimLeft(rest, "\t")
		if line != "" && next != "" && line[len(line)-1] != '>' && next[0] != '<' {
			b.WriteByte(' ')
		}
		s = rest
	}
}

func content(b *strings.Builder, arg any) {
	switch x := arg.(type) {
	case nil:
	case string:
		escape(b, x)
	case int:
		b.WriteString(strconv.Itoa(x))
	case Part:
		x.addTo(b)
	default:
		panic("html: a content is a text, a number or a part")
	}
}

// attribute writes a space and an attribute. It panics for attributes that hold scripts or styles.
func attribute(b *strings.Builder, name string, arg any) {
	if strings.HasPrefix(name, "on") || strings.HasPrefix(name, "hx-on") || name == "style" || name == "srcdoc" {
		panic("html: the attribute " + name + " is not allowed")
	}
	value := ""
	switch x := arg.(type) {
	case nil:
		return
	case bool:
		if x {
			b.WriteString(" " + name)
		}
		return
	case string:
		if slices.Contains(addresses, name) && !safe(x) {
			return
		}
		value = x
	case int:
		value = strconv.Itoa(x)
	default:
		panic("html: a value is a text, a number or a bool")
	}
	b.WriteString(" " + name + `="`)
	escape(b, value)
	b.WriteByte('"')
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

// WriteTo writes a part to w.
func WriteTo(w io.Writer, p Part) error {
	var b strings.Builder
	content(&b, p)
	_, err := io.WriteString(w, b.String())
	return err
}

// escapes are the characters with a meaning in texts or in values with double quotes. Characters that
// HTML forbids become U+FFFD.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\x00", "\ufffd")

func escape(b *strings.Builder, s string) {
	_, _ = escapes.WriteString(b, strings.ToValidUTF8(s, "\ufffd")) // a builder cannot fail
}
