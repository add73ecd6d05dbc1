package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
)

const matchHeader = "If-Match"

// Matching is the parameter of routes that change a document or a memory, and do so only if it
// is as the caller knows it. It is exported for huma, which passes over others.
type Matching struct {
	IfMatch string `header:"If-Match" maxLength:"8192" doc:"ETag of the version read, or several; on a mismatch nothing changes and the answer is 412. * requires that the item exists; for erasure a quarantined one counts"`
}

// SessionMatching is the parameter of routes that change a session only if it is as the caller
// knows it. It is exported for huma, which passes over others.
type SessionMatching struct {
	IfMatch string `header:"If-Match" maxLength:"8192" doc:"ETag of the session as read, or several; if the session has changed since, the answer is 412. * requires that it exists"`
}

// expect returns a context in which the session is changed only as the header wants it.
func (m SessionMatching) expect(ctx context.Context) context.Context {
	when := Matching(m).when()
	return session.WithCondition(ctx, session.Condition{Revisions: when.Revisions, Any: when.Any})
}

// met returns expect's context if the session is as the header wants it: what finds first that
// there is no session, or changes nothing, is no answer to that.
func (s *Server) met(ctx context.Context, m SessionMatching, k session.Key) (context.Context, error) {
	ctx = m.expect(ctx)
	if strings.TrimSpace(m.IfMatch) == "" {
		return ctx, nil
	}
	v, err := s.engine.Sessions().Storage().Version(ctx, k)
	if errors.Is(err, ragctx.ErrNotFound) {
		return ctx, session.ConditionOf(ctx).Check(k, nil)
	}
	if err != nil {
		return ctx, err
	}
	return ctx, session.ConditionOf(ctx).Check(k, &v)
}

// SessionTag is the tag of a session that is answered. It is exported for huma, which passes
// over others.
type SessionTag struct {
	ETag string `header:"ETag" doc:"tag of this answer for If-None-Match and of the session's state for If-Match; after a change, of the new state"`
}

// SessionMade is the tag of a session that was changed. It is exported for huma, which passes
// over others.
type SessionMade struct {
	ETag string `header:"ETag" doc:"tag of the new state of the session, for If-Match; absent if nothing changed"`
}

// noting returns a context in which changes of a session say what its version is then.
func noting(ctx context.Context) (context.Context, *session.Version) {
	at := new(session.Version)
	return session.WithVersionReport(ctx, at), at
}

// madeAt is the tag of a version that was noted, if one was.
func madeAt(at *session.Version) SessionMade {
	if *at == (session.Version{}) {
		return SessionMade{}
	}
	return SessionMade{tagOfRevision(at.Revision())}
}

// when returns what the header asks for. Tags are compared by the revision in them: of what
// they say beyond that, such as how the answer was packed or cut, nothing is at stake.
func (m Matching) when() (c store.Condition) {
	if strings.TrimSpace(m.IfMatch) == "" {
		return c
	}
	c.Revisions = []string{} // names none: a tag that is none of ours is that of nothing
	for tag := range strings.SplitSeq(m.IfMatch, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" {
			return store.Condition{Any: true}
		}
		c.Revisions = append(c.Revisions, revisionIn(tag))
	}
	return c
}

// revisionIn returns the revision that a tag begins with, up to the hash; "" if it is no tag.
func revisionIn(tag string) string {
	opaque, ok := strings.CutPrefix(strings.TrimPrefix(tag, "W/"), `"`)
	if !ok || !strings.HasSuffix(opaque, `"`) {
		return ""
	}
	revision, _, _ := strings.Cut(strings.TrimSuffix(opaque, `"`), "-")
	return revision
}

// tagOfRevision is the tag of something that is not shown; "" where it has no revision.
func tagOfRevision(revision string) string {
	if revision == "" {
		return ""
	}
	return `"` + revision + `"`
}

func memoryTag(m ragctx.Memory) string { return tagOfRevision(store.Revision(m.Version, m.Recorded)) }

// when returns what the headers ask for.
func (d *documentPut) when() (store.Condition, error) {
	c := d.Matching.when()
	switch strings.TrimSpace(d.IfNoneMatch) {
	case "":
	case "*":
		c.None = true
	default:
		return c, invalid(Fault{Location: "header." + unlessHeader, Message: "is not *; to replace only the " +
			"version that you have read, send its tag as " + matchHeader})
	}
	return c, nil
}

// If returns a client whose requests change something only if it is so; see
// [engine.Engine.If]. It is for one document or memory, and shares the connections of c.
func (c *Client) If(when store.Condition) *Client {
	header := make(http.Header)
	switch {
	case when.Any:
		header.Set(matchHeader, "*")
	case when.Revisions != nil:
		tags := make([]string, len(when.Revisions))
		for i, r := range when.Revisions {
			tags[i] = tagOfRevision(r)
		}
		header.Set(matchHeader, strings.Join(tags, ", "))
	}
	if when.None {
		header.Set(unlessHeader, "*")
	}
	return &Client{base: c.base, http: c.http, when: header}
}
