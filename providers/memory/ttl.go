package memory

import (
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// maxTTL is the longest time to live. For a longer one, omit it.
const maxTTL = 100 * 365 * 24 * time.Hour

// ParseTTL parses a positive duration in Go's syntax ("36h", "90m"), in days ("30d"), or in seconds
// ("3600").
func ParseTTL(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil {
			return seconds(n * 24 * 60 * 60)
		}
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return seconds(n)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, ragctx.Invalid("ttl", "is %q; send seconds, or a length of time such as 90m, 36h or 30d", ragctx.Clip(s))
	}
	return seconds(d.Seconds())
}

// seconds returns a time to live of n seconds.
func seconds(n float64) (time.Duration, error) {
	if !(n > 0 && n <= maxTTL.Seconds()) {
		return 0, ragctx.Invalid("ttl", "is %v seconds; use more than 0 and at most 100 years, or omit it for no expiry", n)
	}
	return time.Duration(n * float64(time.Second)), nil
}
