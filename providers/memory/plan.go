package memory

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/retrieve"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// vectorShare is the fraction of the embedder's weight given to cosines among memories. A turn is short, and cosines of
// few words are noisy.
const vectorShare = 0.5

// Query parameters.
const (
	ParamConversation = "dialogue" // false: ignore neighboring turns and speakers
	ParamTime         = "time"     // false: do not read times from the query
	ParamFacts        = retrieve.ParamFacts
)

// isPronoun reports whether a word is an English pronoun of a third person. It stands for the user or for a person
// whom the question describes. Among few memories it is a rare word, so it would find memories of other people.
func isPronoun(word string) bool {
	word, _, _ = strings.Cut(strings.ToLower(strings.TrimRight(word, "?!.,;:")), "'")
	return slices.Contains([]string{"he", "him", "his", "she", "her", "hers"}, word)
}

// withoutPronouns returns a question without such pronouns, or as it is if nothing else is in it.
func withoutPronouns(question string) string {
	words := strings.Fields(question)
	rest := slices.DeleteFunc(slices.Clone(words), isPronoun)
	if len(rest) == len(words) || len(rest) == 0 {
		return question
	}
	return strings.Join(rest, " ")
}

// Plan returns the index query for a question, without the number of hits.
func Plan(q ragctx.ContextQuery) index.Query {
	plan := index.Query{
		Text:    withoutPronouns(q.Query),
		Phrases: passage.Phrases(q), Patterns: passage.Patterns(q), Spelling: passage.Spelling(q),
		More:    passage.Wordings(q),
		Scope:   index.Scope{User: q.UserID, Agent: q.AgentID, Session: q.Filter.SessionID},
		Session: q.SessionID,
		Filter:  q.Filter, AsOf: q.AsOf, Now: q.Now, Exact: q.Exact, Explain: q.Explain,
		Fusion: index.Fusion{VectorShare: vectorShare},
	}
	for _, s := range passage.Sentences(q) {
		plan.Sentences = append(plan.Sentences, index.Sentence{Text: withoutPronouns(s.Text)})
	}
	plan.Filter.SessionID = "" // is part of the scope
	if q.Params[ParamConversation] != false {
		plan.Conversation = &index.ConversationWeights{AsksWhen: asksWhen(q.Query)}
	}
	if q.Params[ParamTime] != false {
		if r, ok := timeexpr.Read(q.Query, q.Now); ok {
			plan.Time = &index.Time{Reading: r, List: r.Only && len(plan.More) == 0 && len(plan.Phrases) == 0}
		}
	}
	return plan
}
