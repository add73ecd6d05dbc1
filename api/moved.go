package api

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
)

// move is an earlier spelling of a route. An empty method means every method. A path with a
// parameter has its text around {}; the new path takes the value of the parameter.
type move struct{ method, old, newMethod, path string }

// moves are in order of precedence.
var moves = [...]move{
	{"", "/v1/ledger", "", clustersPath},
	{"", "/v1/ledger/{}/snapshot", "", clustersPath + "/{}/state"},
	{"", "/v1/ledger/{}/export", "", clustersPath + "/{}:export"},
	{"", "/v1/ledger/{}/import", "", clustersPath + "/{}:import"},
	{"", "/v1/ledger/{}", "", clustersPath + "/{}"},
	{"", "/v1/ranking/{}", "", "/v1/rankings/{}"},
	{"GET", "/v1/doctor", "", "/v1/indexes"},
	{"GET", "/v1/search", "POST", "/v1/search"},
	{"GET", "/v1/context", "POST", "/v1/context"},
	{"POST", "/v1/memories/search", "", "/v1/memories:search"},
	{"POST", "/v1/memories/{}/tags", "PATCH", "/v1/memories/{}/tags"},
	{"POST", "/v1/jobs/{}/cancel", "", "/v1/jobs/{}:cancel"},
	{"POST", "/v1/jobs/{}/retry", "", "/v1/jobs/{}:retry"},
	{"DELETE", "/v1/turns/{}", "", "/v1/memories/{}"},
	{"DELETE", "/v1/jobs/{}", "POST", "/v1/jobs/{}:cancel"},
	{"DELETE", keysPath + "/{}", "POST", keysPath + "/{}:revoke"},
	{"POST", proceduresPath + "/{}/publish", "", proceduresPath + "/{}:publish"},
	{"POST", proceduresPath + "/{}/unpublish", "", proceduresPath + "/{}:unpublish"},
	{"POST", proceduresPath + "/{}/rollback", "", proceduresPath + "/{}:rollback"},
	{"POST", sessionsRoot + "/{}/assemble", "", sessionsRoot + "/{}:assemble"},
	{"POST", sessionsRoot + "/{}/compile", "", sessionsRoot + "/{}:compile"},
	{"POST", sessionsRoot + "/{}/compact", "", sessionsRoot + "/{}:compact"},
	{"POST", sessionsRoot + "/{}/undo-compaction", "", sessionsRoot + "/{}:undo-compaction"},
	{"POST", sessionsRoot + "/{}/fork", "", sessionsRoot + "/{}:fork"},
	{"POST", sessionsRoot + "/{}/navigate", "", sessionsRoot + "/{}:navigate"},
	{"GET", sessionsRoot + "/{}/export", "", sessionsRoot + "/{}:export"},
	{"POST", sessionsRoot + "/{}/import", "", sessionsRoot + "/{}:import"},
}

// apply returns the new route of a request, or "".
func (m move) apply(method, path string) string {
	before, after, has := strings.Cut(m.old, "{}")
	value, below := strings.CutPrefix(path, before)
	value, ends := strings.CutSuffix(value, after)
	if m.method != "" && m.method != method || !below || !ends || has != (value != "") {
		return ""
	}
	return cmp.Or(m.newMethod, method) + " " + strings.ReplaceAll(m.path, "{}", ragctx.Clip(value))
}

// checkMoved answers a request of an earlier spelling of a route with the new one. Like [routedPath],
// it reads the path as sent: an id that ends like an earlier spelling is sent with the slash as %2F.
func checkMoved(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		sent, _, _ := strings.Cut(r.RequestURI, "?")
		for _, m := range moves {
			if now := m.apply(r.Method, sent); now != "" {
				return newProblem(http.StatusNotFound, "not_found", "use "+now+"; see /openapi.json")
			}
		}
		return next(c)
	}
}

// synonyms maps names that other APIs have for fields and parameters to ours, in order of precedence.
var synonyms = map[string][]string{
	"after_seq": {"after_sequence"}, "through_seq": {"through_sequence"},
	"q": {"query", "contains"}, "question": {"query"}, "text": {"content", "query"}, "content": {"text", "messages"},
	"role": {"messages"}, "message": {"messages"},
	"input": {"text", "content", "query"}, "page": {"cursor"}, "offset": {"cursor"}, "after": {"cursor"},
	"page_token": {"cursor"}, "next_cursor": {"cursor"}, "page_size": {"limit"}, "per_page": {"limit"},
	"limit": {"max_results"}, "top_k": {"max_results", "limit"}, "k": {"max_results", "limit"},
	"types": {"context_types", "type"}, "type": {"memory_type", "context_types", "mime"}, "user": {"user_id"},
	"agent": {"agent_id"}, "session": {"session_id"}, "run_id": {"session_id"}, "external_id": {"id"},
	"mime_type": {"mime"}, "sort": {"order"}, "filters": {"filter"}, "project_id": {"namespace"}, "tenant": {"namespace"},
	"collection": {"namespace"},
}

// movedParameters maps earlier query parameters of an operation to the present ones.
var movedParameters = map[string]map[string]string{
	"query-messages":        {"offset": "cursor"},
	"list-session-messages": {"before": "cursor"},
	"stream-events":         {"after": "after_sequence"},
}
