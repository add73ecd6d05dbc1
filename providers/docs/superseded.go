package docs

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// statusKey is the metadata key of the state of a text, such as "superseded by 0007" of a decision record.
const statusKey = "status"

// maxStatusHead is the part of a text in bytes in which its status is looked for.
const maxStatusHead = 4 << 10

// statusLine matches a line such as "Status: superseded by [7](0007-queue.md)", or the first line under
// the heading "Status".
var statusLine = regexp.MustCompile(`(?im)^(?:[-*_> \t]*status[*_]*:[*_ \t]*|#{1,6}[ \t]*status[ \t]*\r?\n(?:[ \t]*\r?\n)*[*_]*)` +
	`(superseded by [^\r\n]{1,200})`)

var (
	supersededBy = regexp.MustCompile(`(?i)^superseded by\b`)
	linkTarget   = regexp.MustCompile(`\]\(([^)#\s]+)`)
	number       = regexp.MustCompile(`\d+`)
)

// readStatus adds the status that a text states below its front matter.
func (fm *frontMatter) readStatus(text string) {
	if m := statusLine.FindStringSubmatch(text[:min(len(text), maxStatusHead)]); m != nil && fm.metadata[statusKey] == nil {
		fm.addMetadata(statusKey, strings.TrimRight(m[1], " \t*_."))
	}
}

// supersedes reports whether a document is the one that a status "superseded by" of another document names, by a
// link or by the number in the names of files of one folder.
func supersedes(id, status, of string) bool {
	if id == of {
		return false
	}
	if link := linkTarget.FindStringSubmatch(status); link != nil {
		return path.Join(path.Dir(of), link[1]) == id
	}
	numbered := func(s string) string { return strings.TrimLeft(number.FindString(s), "0") }
	n := numbered(status)
	return n != "" && path.Dir(id) == path.Dir(of) && n == numbered(path.Base(id))
}

// belowSuccessor scales the relevance of a text that is superseded to that of its successor.
const belowSuccessor = 0.99

// sortSuperseded gives an item that supersedes one further up the relevance of that one, puts that one just
// below it, and sorts the items anew. The question that an old record answers is one for its successor.
func sortSuperseded(items []ragctx.ContextItem) {
	moved := false
	for i, it := range items {
		status, _ := it.Metadata[statusKey].(string)
		of, _ := it.Metadata["document"].(string)
		if !supersededBy.MatchString(status) {
			continue
		}
		best := slices.IndexFunc(items, func(other ragctx.ContextItem) bool {
			id, _ := other.Metadata["document"].(string)
			return supersedes(id, status, of)
		})
		if best > i {
			items[best] = items[best].WithRelevance(max(items[best].Relevance, it.Relevance))
			items[i] = it.WithRelevance(it.Relevance * belowSuccessor)
			moved = true
		}
	}
	if moved {
		slices.SortStableFunc(items, func(a, b ragctx.ContextItem) int { return cmp.Compare(b.Relevance, a.Relevance) })
	}
}
