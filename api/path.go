package api

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
)

// plainPath returns r with a path that is unescaped exactly once. An id may contain any character:
// a slash may be sent as it is or as %2F, a literal "%2F" is sent as %252F, and nothing is cleaned
// ("a//b" and ".." are ids). Echo's last path parameter takes the rest of the path including
// slashes, which makes {id} work. But echo matches URL.RawPath if it is set, which net/http does
// only for some paths, and would return those ids escaped and others unescaped. Middleware cannot
// change the request that echo routes by, so this happens before echo. The part after an id moves
// before it; see [verb].
func plainPath(r *http.Request) *http.Request {
	plain, u := *r, *r.URL
	u.Path, u.RawPath = routedPath(r.URL), ""
	plain.URL = &u
	return &plain
}

// checkURL rejects invalid ids and parameters.
func checkURL(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u := c.Request().URL
		if err := ragctx.ValidText("path", u.Path); err != nil {
			return invalid(Fault{Location: "path", Message: "is not valid UTF-8 or has a NUL character; " +
				"percent-encode the UTF-8 of the id"})
		}
		if _, err := url.ParseQuery(u.RawQuery); err != nil {
			return newProblem(http.StatusBadRequest, "invalid", "the query string is malformed",
				Fault{Location: "query", Message: "cannot be read; percent-encode its values, and ; as %3B"})
		}
		return next(c)
	}
}
