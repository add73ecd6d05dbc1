package docs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
)

// otherKind scales the relevance of code in the answer to a question in words, and of prose in the answer to one with an
// identifier. In a repository, code repeats the words of its documentation.
const otherKind = 0.92

// identifier matches a name in code: snake_case, a::b, call(), camelCase, or a name of three parts, ThreePartName.
// Names of two parts are often those of products: GitHub.
var identifier = regexp.MustCompile(`\pL\pN*_\pL|\w::\w|\w\(\)|\b[a-z]{2,}[a-z0-9]*[A-Z]\w*|\b(?:[A-Z]+[a-z0-9]+){3,}\b`)

// products are names that look like identifiers.
var products = regexp.MustCompile(`\b(?:macOS|iOS|iPad\w*|iPhone\w*|eBay|npmJS|jQuery|webOS|tvOS|watchOS)\b`)

// fewestWords is the number of words from which a query is a question in words. Fewer are often the name of something.
const fewestWords = 3

// preferKind lowers the relevance of the items that are prose, if the question names code, or code, if it is in words,
// and sorts them anew.
func preferKind(question string, items []ragctx.ContextItem) {
	named := identifier.MatchString(products.ReplaceAllString(question, " "))
	if !named && len(strings.Fields(question)) < fewestWords {
		return
	}
	for i, it := range items {
		id, _, _, _ := passage.ParseItemID(it.ID)
		if formatOf(ragctx.Document{ExternalID: id}).lang != nil != named {
			items[i] = it.WithRelevance(it.Relevance * otherKind)
		}
	}
	slices.SortStableFunc(items, func(a, b ragctx.ContextItem) int { return cmp.Compare(b.Relevance, a.Relevance) })
}
