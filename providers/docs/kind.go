package docs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/retrieve"
)

// otherKind scales the relevance of code in the answer to a question in words, and of prose in the answer to one with an
// identifier. In a repository, code repeats the words of its documentation.
const otherKind = 0.8

// identifier matches a name in code: snake_case, a::b, call(), camelCase, or a name of three parts, ThreePartName.
// Names of two parts are often those of products: GitHub.
var identifier = regexp.MustCompile(`\pL\pN*_\pL|\w::\w|\w\(\)|\b[a-z]{2,}[a-z0-9]*[A-Z]\w*|\b(?:[A-Z]+[a-z0-9]+){3,}\b`)

// products are names that look like identifiers.
var products = regexp.MustCompile(`\b(?:macOS|iOS|iPad\w*|iPhone\w*|eBay|npmJS|jQuery|webOS|tvOS|watchOS)\b`)

// fewestWords is the number of words from which a query is a question in words. Fewer are often the name of something.
const fewestWords = 3

// A preference is the kind of text that a question prefers.
type preference int

const (
	preferNone preference = iota
	preferProse
	preferCode
)

// ParamPrefer is the query parameter that states the preferred kind of text, "code" or "prose", instead of the question.
const ParamPrefer = "prefer"

// preferred returns the kind that a query prefers: code if it names code, and prose if it is in words.
func preferred(q ragctx.ContextQuery) preference {
	switch stated := q.Params[ParamPrefer]; {
	case stated == "code", stated != "prose" && identifier.MatchString(products.ReplaceAllString(q.Query, " ")):
		return preferCode
	case stated == "prose", len(strings.Fields(q.Query)) >= fewestWords:
		return preferProse
	}
	return preferNone
}

// order returns the order that shows items of the preferred kind first. In a repository the other kind may take all
// places.
func (p preference) order() retrieve.Order {
	return retrieve.Order{
		Applies: func(items []ragctx.ContextItem) bool { return slices.ContainsFunc(items, p.rejects) },
		Sort:    p.sort,
	}
}

// rejects reports whether an item is of the other kind.
func (p preference) rejects(it ragctx.ContextItem) bool {
	if p == preferNone {
		return false
	}
	id, _, _, _ := passage.ParseItemID(it.ID)
	return formatOf(ragctx.Document{ExternalID: id}).lang != nil != (p == preferCode)
}

// sort lowers the relevance of the items of the other kind and sorts the items anew. Items of one kind keep
// their relevance.
func (p preference) sort(items []ragctx.ContextItem) {
	if !slices.ContainsFunc(items, func(it ragctx.ContextItem) bool { return !p.rejects(it) }) {
		return
	}
	for i, it := range items {
		if p.rejects(it) {
			items[i] = it.WithRelevance(it.Relevance * otherKind)
		}
	}
	slices.SortStableFunc(items, func(a, b ragctx.ContextItem) int { return cmp.Compare(b.Relevance, a.Relevance) })
}
