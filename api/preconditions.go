package api

import (
	"net/http"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
)

const matchHeader = "If-Match"

// Matching is the If-Match parameter of routes that change a document or a memory. It is exported
// because huma ignores unexported embedded types.
type Matching struct {
	IfMatch string `header:"If-Match" maxLength:"8192" doc:"ETag of the version read, or several, or * for any; 412 on a mismatch"`
}

// SessionMatching is the If-Match parameter of routes that change a session. It is exported for
// huma, like Matching.
type SessionMatching struct {
	IfMatch string `header:"If-Match" maxLength:"8192" doc:"ETag of the session as read, or several, or * for any; 412 on a mismatch"`
}

// when returns the header's condition.
func (m SessionMatching) when() session.Condition {
	c := Matching(m).when()
	return session.Condition{Revisions: c.Revisions, Any: c.Any}
}

// SessionTag is the ETag of a returned session. It is exported for huma, like Matching.
type SessionTag struct {
	ETag string `header:"ETag" doc:"tag of this answer for If-None-Match, and of the session's new state for If-Match"`
}

// SessionMade is the ETag of a changed session. It is exported for huma, like Matching.
type SessionMade struct {
	ETag string `header:"ETag" doc:"tag of the new state of the session, for If-Match; absent if nothing changed"`
}

// sessionMade returns the ETag of a version, or none if nothing changed.
func sessionMade(at session.Version) SessionMade {
	if at == (session.Version{}) {
		return SessionMade{}
	}
	return SessionMade{tagOfRevision(at.Revision())}
}

// when returns the header's condition. Tags match by their revision; the hash of the encoded answer
// does not matter.
func (m Matching) when() (c store.Condition) {
	if strings.TrimSpace(m.IfMatch) == "" {
		return c
	}
	c.Revisions = []string{} // empty, not nil: a foreign tag matches nothing
	for tag := range strings.SplitSeq(m.IfMatch, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" {
			return store.Condition{Any: true}
		}
		c.Revisions = append(c.Revisions, revisionIn(tag))
	}
	return c
}

// revisionIn returns the revision before the hash in a tag, or "" for an invalid tag.
func revisionIn(tag string) string {
	opaque, ok := strings.CutPrefix(strings.TrimPrefix(tag, "W/"), `"`)
	if !ok || !strings.HasSuffix(opaque, `"`) {
		return ""
	}
	revision, _, _ := strings.Cut(strings.TrimSuffix(opaque, `"`), "-")
	return revision
}

// tagOfRevision returns the tag of an object that the answer does not include, or "" without a
// revision.
func tagOfRevision(revision string) string {
	if revision == "" {
		return ""
	}
	return `"` + revision + `"`
}

func memoryTag(m ragctx.Memory) string { return tagOfRevision(store.Revision(m.Version, m.Recorded)) }

// when returns the condition of the headers.
func (d *documentPutInput) when() (store.Condition, error) {
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

// If returns a client whose requests change something only if the condition holds; see
// [engine.Engine.If]. Use it for one document or memory. It shares the connections of c.
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
