package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

const (
	tagHeader    = "ETag"
	unlessHeader = "If-None-Match"
)

// taggedFields lists the operations whose answers have an ETag. The named fields change by reading and
// are left out of the tag, which is then weak.
var taggedFields = map[string][]string{
	"get-document":  nil,
	"get-item":      nil,
	"get-memory":    {"score", "access_count", "last_accessed"},
	"get-procedure": nil,
	"get-session":   nil,
	"get-turn":      nil,

	"get-session-message": nil,
}

// describeTag adds the ETag to an operation's description.
func describeTag(op *huma.Operation) {
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: unlessHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: tagHeader + " of an earlier answer; if the answer is unchanged, it is 304 without a body",
	})
	op.Responses["304"] = &huma.Response{Description: "The answer has not changed."}
}

// conditional lets next answer and sends the answer with an ETag, or 304 if the caller has it
// already.
func (s *Server) conditional(c echo.Context, passing []string, next func()) {
	resp := c.Response()
	w := &recorder{ResponseWriter: resp.Writer}
	resp.Writer = w
	defer func() { resp.Writer = w.ResponseWriter }() // also when next panics
	next()
	if w.status == http.StatusOK {
		tag := tagOf(strings.Trim(w.Header().Get(tagHeader), `"`), w.body.Bytes(), passing)
		w.Header().Set(tagHeader, tag)
		w.Header().Set(echo.HeaderCacheControl, "private, no-cache") // may be cached, but must be revalidated
		if matchesTag(c.Request().Header.Values(unlessHeader), tag) {
			w.status = http.StatusNotModified
			w.body.Reset()
			w.Header().Del(echo.HeaderContentType)
		}
	}
	resp.Status, resp.Size = w.status, int64(w.body.Len())
	w.ResponseWriter.WriteHeader(w.status)
	if _, err := w.ResponseWriter.Write(w.body.Bytes()); err != nil {
		s.log.DebugContext(c.Request().Context(), "write answer", "error", err)
	}
}

// tagOf returns the tag of an answer: the revision of its object, if any, and a hash of the body
// without the passing fields.
func tagOf(revision string, body []byte, passing []string) string {
	weak := ""
	if len(passing) > 0 {
		weak = "W/"
		fields := make(map[string]json.RawMessage)
		_ = json.Unmarshal(body, &fields) // our own JSON: cannot fail
		for _, name := range passing {
			delete(fields, name)
		}
		body, _ = json.Marshal(fields) // sorted keys: equal fields give equal bytes
	}
	sum := sha256.Sum256(body)
	if revision != "" {
		revision += "-"
	}
	return weak + `"` + revision + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// matchesTag reports whether header lines contain a tag, compared weakly (RFC 9110, 13.1.2).
func matchesTag(lines []string, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	return slices.ContainsFunc(lines, func(line string) bool {
		for one := range strings.SplitSeq(line, ",") { // our tags contain no commas
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
		return false
	})
}
