package ragctx_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Limits of the pages' sentences; docs/style.md has the rules. A sentence of maxWords needs a second reading, and
// of 100 sentences of a page at most mostLong have more than 20 words.
const (
	maxWords  = 28
	longWords = 20
	mostLong  = 25
)

var (
	// notProse are parts of a page that are no sentences: code, tables, headings and the targets of links.
	notProse   = regexp.MustCompile("(?ms)^```.*?^```$|^    [^\n]*$|^ *\\|[^\n]*$|^#[^\n]*$")
	inlineCode = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	paragraphs = regexp.MustCompile(`\n\s*\n|\n\s*(?:[-*]|\d+\.)\s`)
	// sentenceEnds ends a sentence, or a part of one that is read by itself.
	sentenceEnds = regexp.MustCompile(`[.!?:;]["”)*]*\s+`)
	// headless are sentences and headings without a named subject, and passives of telling.
	headless = regexp.MustCompile(`(?i)(?:^|[.;:] )(?:what|who|whoever)\b[^.?]*[.]|\b(?:is|are) told\b|\bof (?:which|this|it) the whole\b`)
	// riddles are headings without a noun.
	riddles = regexp.MustCompile(`(?m)^#+ (?:Who|Whoever|How long|Of|What (?:is|only|was)) [^?\n]*$`)
)

// TestPlainPages reads the pages for people: sentences are short, and name their subjects.
func TestPlainPages(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	decisions, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(append(pages, decisions...), "README.md", "CHANGELOG.md", "CONTRIBUTING.md") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := sentencesOf(string(b))
		long := 0
		for _, s := range all {
			n := len(strings.Fields(s))
			if n > maxWords {
				t.Errorf("%s: a sentence of %d words, more than %d: %s", name, n, maxWords, s)
			}
			if n > longWords {
				long++
			}
		}
		if len(all) > 10 && 100*long > mostLong*len(all) {
			t.Errorf("%s: %d of %d sentences have more than %d words", name, long, len(all), longWords)
		}
		if name == "docs/style.md" { // which quotes them
			continue
		}
		odd := riddles.FindAllString(string(b), -1)
		for _, p := range proseOf(string(b)) {
			odd = append(odd, headless.FindAllString(p, -1)...)
		}
		for _, o := range odd {
			t.Errorf("%s: %q; name the subject", name, strings.TrimSpace(o))
		}
	}
}

// proseOf returns the paragraphs of a page, with a word for each piece of code.
func proseOf(page string) (all []string) {
	page = notProse.ReplaceAllString(page, "\n\n")
	page = linkTarget.ReplaceAllString(inlineCode.ReplaceAllString(page, "x"), "$1")
	for _, p := range paragraphs.Split(page, -1) {
		all = append(all, strings.Join(strings.Fields(p), " "))
	}
	return all
}

// sentencesOf returns the sentences of a page.
func sentencesOf(page string) (all []string) {
	for _, p := range proseOf(page) {
		all = append(all, sentenceEnds.Split(p, -1)...)
	}
	return all
}

// TestSentences: the test above finds what it is there for.
func TestSentences(t *testing.T) {
	page := "# Head\n\nOne has `two words`. A [link](to/a/page.md) follows:\n\n- first point; and more\n- second\n\n| a | b |\n\n    code here\n"
	if got := strings.Join(sentencesOf(page), "|"); strings.Trim(got, "|") != "One has x|A link follows:|- first point|and more|second" {
		t.Errorf("%q", got)
	}
	for text, odd := range map[string]bool{
		"Who need not be understood says it.": true, "It ends. What is found is kept.": true, "## What only looks passes over a key\n": true,
		"This is told to the caller.": true, "## How long ago things were\n": true, "## What agents see\n": false, "What is the password?": false, "The caller, who asks, waits.": false,
	} {
		if (headless.MatchString(text) || riddles.MatchString(text)) != odd {
			t.Errorf("%q: %v", text, !odd)
		}
	}
}

// pageLinks are links to pages of the repository; headingLine is a heading, which is an anchor.
var (
	pageLinks   = regexp.MustCompile(`\]\(([^)\s:]*)\)`)
	headingLine = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notAnchor   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestPageLinks: each link of a page leads to a file, and to a heading in it.
func TestPageLinks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	more, err2 := filepath.Glob("docs/decisions/*.md")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	anchors := make(map[string]map[string]bool)
	for _, page := range append(append(pages, more...), "README.md", "DESIGN.md", "CHANGELOG.md", "CONTRIBUTING.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pageLinks.FindAllStringSubmatch(notProseBlocks.ReplaceAllString(string(b), ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
				continue
			}
			if anchors[target] == nil {
				anchors[target] = anchorsOf(t, target)
			}
			if anchor != "" && !anchors[target][anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// notProseBlocks are blocks of code, in which brackets are no links.
var notProseBlocks = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")

// anchorsOf returns the anchors of a page's headings, as GitHub makes them.
func anchorsOf(t *testing.T, page string) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	if !strings.HasSuffix(page, ".md") {
		return all
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headingLine.FindAllStringSubmatch(string(b), -1) {
		text := notAnchor.ReplaceAllString(strings.ToLower(linkTarget.ReplaceAllString(h[1], "$1")), "")
		all[strings.ReplaceAll(text, " ", "-")] = true
	}
	return all
}
