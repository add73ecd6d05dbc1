package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
)

// The flags that several commands have, each with one name and one description.

func jsonFlag(flags *pflag.FlagSet, asJSON *bool) {
	flags.BoolVar(asJSON, "json", false, "print JSON")
}

// linesFlag adds --json to a command that prints as it goes.
func linesFlag(flags *pflag.FlagSet, asJSON *bool) {
	flags.BoolVar(asJSON, "json", false, "print JSON, an object per line")
}

// limitFlag adds the flag for the length of a list. Where least is 0, that is no limit.
func limitFlag(flags *pflag.FlagSet, limit *int, preset, least, most int) {
	help := "how many at most"
	if least == 0 {
		help += "; 0 is all"
	}
	countVar(flags, limit, "limit", preset, least, most, help)
}

func eraseFlag(flags *pflag.FlagSet, erase *bool) {
	flags.BoolVar(erase, "erase", false, "remove the text from answers, history and files; this cannot be undone")
}

// errEraseMissing is the error of a command that can only erase, without --erase.
func errEraseMissing() error {
	return badUsage("--erase is missing; this cannot be undone, so the command requires it")
}

func dryRunFlag(flags *pflag.FlagSet, dry *bool) {
	flags.BoolVar(dry, "dry-run", false, "show the changes and write nothing")
}

func prefixFlag(flags *pflag.FlagSet, prefix *string) {
	flags.StringVar(prefix, "prefix", "", "only documents whose ids begin with this")
}

func quietFlag(flags *pflag.FlagSet, quiet *bool) {
	flags.BoolVarP(quiet, "quiet", "q", false, "show no progress")
}

// userFlag adds the user whose memories a command reads.
func userFlag(flags *pflag.FlagSet, user *string) {
	flags.StringVar(user, "user", "", "add the memories of this user to the shared ones")
}

func agentFlag(flags *pflag.FlagSet, agent *string) {
	flags.StringVar(agent, "agent", "", "only memories of this agent")
}

// ownerFlags add the user and agent that something belongs to.
func ownerFlags(flags *pflag.FlagSet, user, agent *string) {
	flags.StringVar(user, "user", "", "user it belongs to (default none: everyone in the namespace)")
	flags.StringVar(agent, "agent", "", "agent it belongs to (default none: every agent)")
}

func allUsersFlag(flags *pflag.FlagSet, all *bool) {
	flags.BoolVar(all, "all-users", false, "of all users")
}

func askingSessionFlag(flags *pflag.FlagSet, session *string) {
	flags.StringVar(session, "session", "",
		"session of the question, for its own providers and for \"last session\"; it hides no memories of other sessions")
}

func inSessionFlag(flags *pflag.FlagSet, session *string) {
	flags.StringVar(session, "in-session", "", "only memories of this session")
}

func periodFlags(flags *pflag.FlagSet, after, before *time.Time) {
	timeVar(flags, after, "after", "only items that occurred at this time or later: "+timeForms)
	timeVar(flags, before, "before", "only items that occurred before this time: "+timeForms)
}

func asOfFlag(flags *pflag.FlagSet, at *time.Time) {
	timeVar(flags, at, "as-of", "answer from the data of this time: "+timeForms)
}

func exactFlag(flags *pflag.FlagSet, exact *bool) {
	flags.BoolVar(exact, "exact", false, "compare all vectors, even where the index would approximate")
}

func tokenizerFlag(flags *pflag.FlagSet, name *string) {
	flags.StringVar(name, "tokenizer", "", "tokenizer that counts the tokens: "+strings.Join(tokens.Names(), ", ")+
		" (default "+ragctx.DefaultTokenizer+")")
}

// labels are the flags --tag and --filter.
type labels struct{ tags, metadata []string }

func (l *labels) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&l.tags, "tag", nil, "only items with this tag; repeated, with all of them")
	flags.StringArrayVar(&l.metadata, "filter", nil, "only items with this metadata, as KEY=VALUE; repeated, with all of them")
}

// filter returns the conditions as a filter.
func (l *labels) filter() (ragctx.Filter, error) {
	f := ragctx.Filter{Tags: l.tags}
	for _, pair := range l.metadata {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return f, badUsage("--filter: is %q; use KEY=VALUE", ragctx.Clip(pair))
		}
		if f.Metadata == nil {
			f.Metadata = make(map[string]string)
		}
		f.Metadata[key] = value
	}
	return f, nil
}

// conditions are the flags that restrict what a search finds.
type conditions struct {
	labels

	user, agent         string
	session, inSession  string
	types               []string
	minRelevance        relevanceFlag
	asOf, after, before time.Time
}

// add adds the flags. A search of memories alone has no types, and no session that asks.
func (c *conditions) add(flags *pflag.FlagSet, memoriesAlone bool) {
	c.labels.add(flags)
	userFlag(flags, &c.user)
	agentFlag(flags, &c.agent)
	inSessionFlag(flags, &c.inSession)
	if !memoriesAlone {
		askingSessionFlag(flags, &c.session)
		flags.StringSliceVar(&c.types, "type", nil, "only these types: memory, resource, skill")
	}
	flags.Var(&c.minRelevance, "min-relevance", fmt.Sprintf("leave out items below this relevance, 0 to 1; 0 shows all items whole "+
		"(default %v; items far behind the best one are cut to a sentence)", ragctx.DefaultMinRelevance))
	asOfFlag(flags, &c.asOf)
	periodFlags(flags, &c.after, &c.before)
}

// query returns a query for text with the conditions.
func (c *conditions) query(s settings, text string) (ragctx.ContextQuery, error) {
	q := ragctx.ContextQuery{
		Query: text, Namespace: s.Namespace, UserID: c.user, AgentID: c.agent, SessionID: c.session,
		AsOf: c.asOf, MinRelevance: c.minRelevance.value,
	}
	var err error
	if q.Filter, err = c.filter(); err != nil {
		return q, err
	}
	q.Filter.SessionID, q.Filter.OccurredAfter, q.Filter.OccurredBefore = c.inSession, c.after, c.before
	for _, name := range c.types {
		t, err := ragctx.ParseContextType(name)
		if err != nil {
			return q, asUsage(err)
		}
		q.ContextTypes = append(q.ContextTypes, t)
	}
	return q, nil
}
