package docs

import (
	"regexp"
	"strings"
	"sync"
)

// inlineMarkup lists patterns of inline markup and their replacements. Parts of a pattern end at
// their delimiters, which keeps matching nearly linear. It is applied to paragraphs and titles of
// bounded length.
type inlineMarkup []struct {
	find *regexp.Regexp
	put  string
}

func (m inlineMarkup) plain(s string) string {
	for _, rule := range m {
		s = rule.find.ReplaceAllString(s, rule.put)
	}
	return strings.Join(strings.Fields(s), " ")
}

var rstInline = sync.OnceValue(func() inlineMarkup {
	return inlineMarkup{
		{regexp.MustCompile(`(?m)^\s*\.\. .*$`), ""},
		{regexp.MustCompile(":[a-zA-Z][a-zA-Z0-9:_+.-]*:`([^`<]+?)\\s*<[^>`]+>`"), "$1"},
		{regexp.MustCompile(":[a-zA-Z][a-zA-Z0-9:_+.-]*:`~(?:[^`.]+\\.)*([^`]+)`"), "$1"},
		{regexp.MustCompile(":[a-zA-Z][a-zA-Z0-9:_+.-]*:`[!.]?([^`]+)`"), "$1"},
		{regexp.MustCompile("``(.+?)``"), "$1"},
		{regexp.MustCompile("`([^`<]+?)\\s*<[^>`]+>`__?"), "$1"},
		{regexp.MustCompile("`([^`]+)`(?:__?)?"), "$1"},
		{regexp.MustCompile(`\*\*([^*\s][^*]*)\*\*`), "$1"},
		{regexp.MustCompile(`\*([^*\s][^*]*)\*`), "$1"},
		{regexp.MustCompile(`\s?\[(?:#?[a-zA-Z0-9_-]+|\*|#)\]_`), ""},
		{regexp.MustCompile(`\|([^|\s][^|\n]*)\|(?:__?)?`), "$1"},
		{regexp.MustCompile(`\b([a-zA-Z0-9][a-zA-Z0-9-]*)__?(\W|$)`), "$1$2"},
		{regexp.MustCompile(`::\s*$`), ":"},
		{regexp.MustCompile(`\\(.)`), "$1"},
	}
})

// plainRST removes inline markup from reStructuredText.
func plainRST(s string) string { return rstInline().plain(s) }

var asciidocInline = sync.OnceValue(func() inlineMarkup {
	return inlineMarkup{
		{regexp.MustCompile(`(?m)^//.*$`), ""},
		{regexp.MustCompile(`(?m)^(?:ifdef|ifndef|endif|include|image|toc)::.*$`), ""},
		{regexp.MustCompile(`(?:image|icon|footnote|footnoteref|indexterm|anchor):[^\s\[]*\[[^\]]*\]`), ""},
		{regexp.MustCompile(`\[\[[^\]]+\]\]`), ""},
		{regexp.MustCompile(`<<[^,>]+,\s*([^>]+)>>`), "$1"},
		{regexp.MustCompile(`<<([^>]+)>>`), "$1"},
		{regexp.MustCompile(`(?:link|xref|https?|mailto|kbd|btn|menu|pass|stem|latexmath):[^\s\[]*\[([^\],]+)[^\]]*\]`), "$1"},
		{regexp.MustCompile("\\[[.#%][^\\]]+\\]([#*_`])"), "$1"},
		{regexp.MustCompile("``?([^`\n]+)``?"), "$1"},
		{regexp.MustCompile(`\*\*?([^*\s][^*\n]*)\*\*?`), "$1"},
		{regexp.MustCompile(`(^|\W)__?([^_\s][^_\n]*)__?(\W|$)`), "$1$2$3"},
		{regexp.MustCompile(`(^|\W)#([^#\s][^#\n]*)#(\W|$)`), "$1$2$3"},
		{regexp.MustCompile(`\{nbsp\}`), " "},
		{regexp.MustCompile(`\+\+?([^+\s][^+\n]*)\+\+?`), "$1"},
		{regexp.MustCompile(`\s\+$`), ""},
		{regexp.MustCompile(`(?m)^(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION): `), ""},
	}
})

// plainAsciidoc removes inline markup from AsciiDoc.
func plainAsciidoc(s string) string { return asciidocInline().plain(s) }

var orgInline = sync.OnceValue(func() inlineMarkup {
	return inlineMarkup{
		{regexp.MustCompile(`\[\[[^\]]+\]\[([^\]]+)\]\]`), "$1"},
		{regexp.MustCompile(`\[\[([^\]]+)\]\]`), "$1"},
		{regexp.MustCompile(`\[fn:[^\]]+\]`), ""},
		{regexp.MustCompile(`(^|[\s("'])[*/_=~+]([^\s*/_=~+][^*=~\n]*?)[*/_=~+]([\s.,;:!?)"'-]|$)`), "$1$2$3"},
	}
})

// plainOrg removes inline markup from org-mode text.
func plainOrg(s string) string { return orgInline().plain(s) }

var latexInline = sync.OnceValue(func() inlineMarkup {
	return inlineMarkup{
		{regexp.MustCompile(`(?m)(^|[^\\])%.*$`), "$1"},
		{regexp.MustCompile(`[~\s]*\\(?:label|cite[a-z]*|ref|eqref|footnote|index|vspace|hspace|includegraphics|` +
			`input|include|bibliography[a-z]*)\*?(?:\[[^\]]*\])?\{[^{}]*\}`), ""},
		{regexp.MustCompile(`\\href\{[^{}]*\}\{([^{}]+)\}`), "$1"},
		{regexp.MustCompile(`\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\{([^{}]*)\}`), "$1"},
		{regexp.MustCompile(`\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\{([^{}]*)\}`), "$1"},
		{regexp.MustCompile(`\\[a-zA-Z]+\s?`), ""},
		{regexp.MustCompile("``([^`']+)''"), "“$1”"},
		{regexp.MustCompile(`\\([%$&#_{}])`), "$1"},
		{regexp.MustCompile(`[~]`), " "},
		{regexp.MustCompile(`---?`), "–"},
	}
})

// plainLaTeX removes the most common commands from LaTeX.
func plainLaTeX(s string) string { return latexInline().plain(s) }
