package api

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
)

// plainPath returns r with a path that is unescaped once and in no form
// besides. An id may hold any character: a slash may come as it is or as %2F,
// a "%2F" in the id comes as %252F, and nothing is cleaned ("a//b" and ".." are
// ids). Echo's last path parameter takes the rest of the path, slashes
// included, which is what makes {id} work; but echo matches URL.RawPath if it
// is set, which net/http does for some paths, and would hand out those ids
// escaped and all others unescaped. It has to happen before echo: middleware
// cannot change the request that echo routes by. What follows an id goes before it;
// see [verb].
func plainPath(r *http.Request) *http.Request {
	plain, u := *r, *r.URL
	u.Path, u.RawPath = routedPath(r.URL), ""
	plain.URL = &u
	return &plain
}

// checkURL refuses what cannot be an id or a parameter.
func checkURL(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u := c.Request().URL
		if err := ragctx.ValidText("path", u.Path); err != nil {
			return invalid(Fault{Location: "path", Message: "is not valid UTF-8 or has a NUL character; percent-encode the UTF-8 of the id"})
		}
		if _, err := url.ParseQuery(u.RawQuery); err != nil {
			return newProblem(http.StatusBadRequest, "invalid", "the query string is malformed",
				Fault{Location: "query", Message: "cannot be read; percent-encode its values, and ; as %3B"})
		}
		return next(c)
	}
}
