package api

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
)

// busy is the problem of a request that may succeed after a while.
func busy(status int, again time.Duration, reason string) *Problem {
	err := ragctx.ErrLimited
	if status == http.StatusServiceUnavailable {
		err = ragctx.ErrUnavailable
	}
	code, _ := ragctx.CodeOf(err)
	seconds := int(max(1, math.Ceil(again.Seconds())))
	p := newProblem(status, string(code), fmt.Sprintf("%s; try again in %d s", reason, seconds))
	p.retryAfter = seconds
	return p
}

// GetHeaders implements [huma.HeadersError] with Retry-After.
func (p *Problem) GetHeaders() http.Header {
	h := make(http.Header)
	if p.retryAfter > 0 {
		h.Set(echo.HeaderRetryAfter, strconv.Itoa(p.retryAfter))
	}
	return h
}
