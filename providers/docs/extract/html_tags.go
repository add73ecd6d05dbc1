package extract

import "golang.org/x/net/html/atom"

// The tables below classify the HTML elements. They are read-only.

func tagSet(tags ...atom.Atom) map[atom.Atom]bool {
	m := make(map[atom.Atom]bool, len(tags))
	for _, t := range tags {
		m[t] = true
	}
	return m
}

var (
	voidTags = tagSet(atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link,
		atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr, atom.Keygen, atom.Frame, atom.Basefont, atom.Bgsound)

	blockTags = tagSet(atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center,
		atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption,
		atom.Figure, atom.Footer, atom.Form, atom.Frameset, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Head, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Listing, atom.Main,
		atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Plaintext, atom.Pre, atom.Search, atom.Section, atom.Summary,
		atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Xmp)

	tableTags = tagSet(atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption)
	cellTags  = tagSet(atom.Td, atom.Th, atom.Caption)

	// htmlContainers are not closed by a slash in HTML: <div/> opens an element.
	htmlContainers = tagSet(atom.A, atom.B, atom.Code, atom.Div, atom.Em, atom.I, atom.Li, atom.Ol, atom.P, atom.Pre,
		atom.Script, atom.Section, atom.Span, atom.Strong, atom.Style, atom.Table, atom.Td, atom.Title, atom.Tr,
		atom.Ul)

	headTags = tagSet(atom.Title, atom.Meta, atom.Link, atom.Script, atom.Style, atom.Base, atom.Noscript,
		atom.Template, atom.Bgsound)

	// hiddenTags have no content that belongs to the text.
	hiddenTags = tagSet(atom.Script, atom.Style, atom.Template, atom.Svg, atom.Noscript, atom.Iframe, atom.Object,
		atom.Canvas, atom.Video, atom.Audio, atom.Select, atom.Button, atom.Textarea, atom.Datalist, atom.Dialog,
		atom.Head, atom.Map, atom.Applet, atom.Noembed, atom.Noframes, atom.Title, atom.Progress, atom.Meter)

	linkListTags = tagSet(atom.Ul, atom.Ol, atom.Div, atom.Table, atom.Td, atom.Section, atom.Center, atom.P)

	headingLevel = map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}

	keptAttrs = map[string]bool{
		"alt": true, "alttext": true, "aria-hidden": true, "charset": true, "class": true, "colspan": true,
		"content": true, "data-lang": true, "data-language": true, "datetime": true, "encoding": true,
		"hidden": true, "href": true, "id": true, "itemprop": true, "lang": true, "name": true,
		"property": true, "role": true, "rowspan": true, "start": true, "style": true, "value": true,
		"xml:lang": true,
	}

	impliedEnds = []struct{ at, ends, within []atom.Atom }{
		{
			at: []atom.Atom{atom.Li}, ends: []atom.Atom{atom.Li},
			within: []atom.Atom{atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Table, atom.Td, atom.Th},
		},
		{
			at: []atom.Atom{atom.Dt, atom.Dd}, ends: []atom.Atom{atom.Dt, atom.Dd},
			within: []atom.Atom{atom.Dl, atom.Table, atom.Td, atom.Th},
		},
		{
			at: []atom.Atom{atom.Td, atom.Th}, ends: []atom.Atom{atom.Td, atom.Th, atom.Caption},
			within: []atom.Atom{atom.Tr, atom.Table},
		},
		{
			at: []atom.Atom{atom.Tr}, ends: []atom.Atom{atom.Tr, atom.Td, atom.Th, atom.Caption},
			within: []atom.Atom{atom.Table, atom.Tbody, atom.Thead, atom.Tfoot},
		},
		{
			at:     []atom.Atom{atom.Tbody, atom.Thead, atom.Tfoot},
			ends:   []atom.Atom{atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption},
			within: []atom.Atom{atom.Table},
		},
		{at: []atom.Atom{atom.Option}, ends: []atom.Atom{atom.Option}, within: []atom.Atom{atom.Select, atom.Datalist}},
		{at: []atom.Atom{atom.Body}, ends: []atom.Atom{atom.Head}, within: nil},
		{
			at: []atom.Atom{atom.A}, ends: []atom.Atom{atom.A},
			within: []atom.Atom{atom.Td, atom.Th, atom.Li, atom.Table},
		},
		{
			at:   []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6},
			ends: []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6},
			within: []atom.Atom{
				atom.Div, atom.Section, atom.Article, atom.Main, atom.Body, atom.Td, atom.Th, atom.Li,
				atom.Blockquote, atom.Header,
				atom.Dd, atom.Details, atom.Figure, atom.Aside, atom.Nav, atom.Summary, atom.Span,
			},
		},
	}
)
