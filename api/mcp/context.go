package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/xmlfmt"
)

type contextArguments struct {
	searchScope
	sized

	Query        string   `json:"query" jsonschema:"the user's full question"`
	Types        []string `json:"types,omitempty" jsonschema:"resource (documents, code), memory, skill (procedures); default is all"`
	MaxResults   int      `json:"max_results,omitempty" jsonschema:"maximum passages"`
	Exclude      []string `json:"exclude,omitempty" jsonschema:"ids of passages you already have"`
	MinRelevance *float64 `json:"min_relevance,omitempty" jsonschema:"default drops irrelevant and shortens weak passages; 0 shows all"`
	Citations    bool     `json:"citations,omitempty" jsonschema:"false omits ids, titles, pages and lines"`
	Spotlight    bool     `json:"spotlight,omitempty" jsonschema:"marks every word as data; doubles the tokens"`
}

// contextAnswer is the answer of the tool context.
type contextAnswer struct {
	Notice      string   `json:"notice"`
	Context     string   `json:"context"`
	TotalTokens int      `json:"total_tokens"`
	Truncated   bool     `json:"truncated,omitempty"`
	Degraded    []string `json:"degraded,omitempty"`
	Note        string   `json:"note,omitempty"`
	corrections
}

// text returns the passages with their ids, for clients that ignore structured content.
func (a contextAnswer) text() string {
	var b strings.Builder
	for _, c := range a.Corrections {
		fmt.Fprintf(&b, "Nothing matches %q; %q was searched as well. ", c.Word, c.As)
	}
	if a.Context == "" {
		return b.String() + "Nothing was found. " + a.Note
	}
	b.WriteString(a.Notice + "\n\n" + a.Context)
	return b.String()
}

func (s *Server) contextTool() tool {
	return define(s, readTool("context", "Context for a question",
		"Read this before you answer a question: returns the best passages of documents, memories and procedures "+
			"within max_tokens, with ids to cite. If truncated is true, send exclude to get more. "+evidence,
		func(p properties) {
			p.text("query", ragctx.MaxQueryBytes/4, true) // at most that many bytes
			p.texts("types", 3, 16)
			p["types"].Items.Enum = []any{"resource", "memory", "skill"}
			p.between("max_results", 1, 100, ragctx.DefaultMaxResults)
			p.texts("exclude", ragctx.MaxResultsLimit, 2*ragctx.MaxNameBytes)
			p.between("min_relevance", 0, 1, 0)
			p["min_relevance"].Default = nil // absence differs from the default
			p["min_relevance"].Type, p["min_relevance"].Types = "number", nil
			p["citations"].Default = json.RawMessage("true")
			if p.maxTokens(fallbackTokens); s.opts.Spotlight {
				delete(p, "spotlight")
			}
		}), s.context)
}

func (s *Server) context(ctx context.Context, at Scope, in contextArguments) (contextAnswer, error) {
	q := query(at, in.Query, in.MaxResults)
	q.Exclude, q.Format, q.MaxTokens = in.Exclude, xmlfmt.XML, in.MaxTokens
	q.MinRelevance, q.Blocks = in.MinRelevance, true // the stable block has the standing wishes of the user
	q.Citations, q.Spotlight = &in.Citations, in.Spotlight || s.opts.Spotlight
	for _, t := range in.Types {
		q.ContextTypes = append(q.ContextTypes, ragctx.ContextType(t))
	}
	for {
		out, err := s.queryOnce(ctx, q, in.MaxTokens)
		if err != nil {
			return out, err
		}
		cost, err := s.cost(out)
		if err != nil || cost <= in.MaxTokens {
			return out, err
		}
		// The other fields of the answer also cost tokens.
		q.MaxTokens = min(q.MaxTokens, out.TotalTokens) - (cost - in.MaxTokens)
		if q.MaxTokens < 1 {
			return out, ragctx.Invalid("max_tokens", "is %d, too small for the best passage; use %d", in.MaxTokens, cost)
		}
	}
}

// queryOnce queries the engine once, for an answer of a size.
func (s *Server) queryOnce(ctx context.Context, q ragctx.ContextQuery, size int) (contextAnswer, error) {
	a, err := s.engine.Context(ctx, q)
	if err != nil {
		return contextAnswer{}, err
	}
	notice := evidence
	for _, b := range a.Blocks {
		if !strings.Contains(notice, b.Instruction) { // equal markers have one explanation
			notice += " " + b.Instruction
		}
	}
	out := contextAnswer{
		Notice: notice, Context: a.Rendered(), TotalTokens: a.TotalTokens,
		Truncated: a.Truncated, Degraded: a.Degraded, Note: a.Note,
		corrections: selectCorrections(a.Corrections, size),
	}
	if len(a.Items) > 0 || !q.Wants(ragctx.TypeResource) {
		return out, nil
	}
	note, err := s.missing(ctx, q.Namespace, "")
	out.Note = strings.Trim(out.Note+"; "+note, "; ")
	return out, err
}

// corrections reports how the query was interpreted.
type corrections struct {
	Corrections []correction `json:"corrections,omitempty"`
}

type correction struct {
	Word string `json:"word"`
	As   string `json:"as"`
}

// tokensPerCorrection is the answer size per allowed correction: the longest word takes half of it,
// and every answer fits at least one.
const tokensPerCorrection = minTokens

// selectCorrections returns the distinct corrections of all providers, as many as fit into an answer of a
// size.
func selectCorrections(all []ragctx.Correction, size int) (selected corrections) {
	for _, c := range all {
		one := correction{c.Word, c.As}
		if len(selected.Corrections) < size/tokensPerCorrection && !slices.Contains(selected.Corrections, one) {
			selected.Corrections = append(selected.Corrections, one)
		}
	}
	return selected
}

// query returns a query within a scope.
func query(at Scope, text string, results int) ragctx.ContextQuery {
	return ragctx.ContextQuery{
		Query: text, MaxResults: results, Namespace: at.Namespace, UserID: at.UserID, AgentID: at.AgentID,
		SessionID: at.SessionID, Filter: ragctx.Filter{SessionID: at.InSession},
	}.WithDefaults()
}
