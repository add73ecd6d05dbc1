package fetch

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// agent is the product name of this client in robots.txt.
const agent = "ragctx"

// Limits of a robots.txt (RFC 9309 §2.5 requires at least 500 KiB).
const (
	maxRobots = 512 << 10
	maxDelay  = 10 * time.Second

	keepRobots = 24 * time.Hour
	// keepUnknown is the time until an unreadable robots.txt is requested again.
	keepUnknown = 5 * time.Minute
)

// robots has the rules of a robots.txt for this client.
type robots struct {
	rules    []rule
	delay    time.Duration
	sitemaps []string // as written
	// unknown is the reason why the file could not be read. Until it can be read, no page may be
	// requested.
	unknown string
}

// rule allows or forbids the paths that match a pattern.
type rule struct {
	pattern string // "*" matches anything; "$" at the end matches the end
	allow   bool
}

// parseRobots parses a robots.txt by RFC 9309. It uses the groups for this client, or else the
// groups for all clients.
func parseRobots(text []byte) *robots {
	var ours, everyone, none robots
	var out robots
	current := []*robots{&none} // targets of the current group
	naming, named := false, false
	text = bytes.TrimPrefix(text[:min(len(text), maxRobots)], []byte("\ufeff"))
	for line := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if key == "user-agent" && !naming {
			current = current[:0]
		}
		switch key {
		case "user-agent":
			switch {
			case value == "*":
				current = append(current, &everyone)
			case strings.EqualFold(productName(value), agent):
				current, named = append(current, &ours), true
			}
		case "allow", "disallow":
			if value != "" {
				for _, g := range current {
					g.rules = append(g.rules, rule{normalize(value), key == "allow"})
				}
			}
		case "crawl-delay":
			if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
				for _, g := range current {
					g.delay = time.Duration(min(s, maxDelay.Seconds()) * float64(time.Second))
				}
			}
		case "sitemap":
			out.sitemaps = append(out.sitemaps, value)
			continue // independent of groups
		default:
			continue
		}
		naming = key == "user-agent"
	}
	group := everyone
	if named {
		group = ours
	}
	out.rules, out.delay = group.rules, group.delay
	return &out
}

// productName returns the product name in a User-agent value, without the version.
func productName(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

// allows reports whether a path with its query may be requested. The longest matching rule decides;
// on a tie, allow wins.
func (r *robots) allows(path string) bool {
	path = normalize(path)
	if path == "/robots.txt" {
		return true
	}
	best, allow := -1, true
	for _, x := range r.rules {
		if n := len(x.pattern); (n > best || n == best && x.allow) && matches(x.pattern, path) {
			best, allow = n, x.allow
		}
	}
	return allow
}

// matches reports whether a path begins with a match of a pattern. It takes time linear in both,
// except for the stars.
func matches(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	path = path[len(parts[0]):]
	if len(parts) == 1 {
		return !whole || path == ""
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		i := strings.Index(path, p)
		if i < 0 {
			return false
		}
		path = path[i+len(p):]
	}
	if whole {
		return strings.HasSuffix(path, parts[last])
	}
	return strings.Contains(path, parts[last])
}

// normalize returns the normal form of a path or pattern: escapes in upper case, unnecessary escapes
// removed, non-ASCII bytes escaped.
func normalize(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				if c, i = byte(n), i+2; !unreserved(c) {
					b.Write([]byte{'%', hex[c>>4], hex[c&15]})
					continue
				}
			}
		}
		if c >= 0x80 || c <= ' ' {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// checkRobots checks a page against the robots.txt of its host.
func (c *Client) checkRobots(ctx context.Context, u *url.URL) error {
	r, err := c.robotsOf(ctx, u)
	switch {
	case err != nil:
		return err
	case r.unknown != "":
		return refuse(u, "was not requested: the robots.txt of its host %s; try again later, or use --ignore-robots", r.unknown)
	case !r.allows(u.RequestURI()):
		return refuse(u, "is forbidden by the robots.txt of its host; use --ignore-robots to request it anyway")
	}
	return nil
}

// robotsOf returns the robots.txt of the host of u. It is downloaded once a day.
func (c *Client) robotsOf(ctx context.Context, u *url.URL) (*robots, error) {
	h := c.host(u)
	h.asking.Lock()
	defer h.asking.Unlock()
	if h.robots != nil && c.opts.Now().Before(h.expires) {
		return h.robots, nil
	}
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	p, err := c.get(ctx, at.String(), "", c.checkHost, maxRobots)
	e, ok := errors.AsType[*Error](err)
	switch {
	case err != nil && !ok:
		return nil, err
	case err == nil:
		h.robots = parseRobots(p.Data)
	case e.absent:
		h.robots = &robots{} // without robots.txt everything is allowed
	default:
		h.robots = &robots{unknown: e.Reason}
	}
	h.expires = c.opts.Now().Add(keepRobots)
	if h.robots.unknown != "" {
		h.expires = c.opts.Now().Add(keepUnknown)
	}
	h.setDelay(max(c.opts.Every, h.robots.delay))
	return h.robots, nil
}
