package fetch

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRobots(t *testing.T) {
	for name, c := range map[string]struct {
		text       string
		yes, no    string // paths, separated by blanks
		delay      time.Duration
		sitemapped int
	}{
		"empty":             {text: "", yes: "/ /a"},
		"everyone":          {text: "User-agent: *\nDisallow: /a", yes: "/ /b /A", no: "/a /ab /a/b"},
		"ours wins":         {text: "User-agent: *\nDisallow: /\n\nUser-agent: RAGCTX/2.0\nDisallow: /x", yes: "/a", no: "/x"},
		"ours is empty":     {text: "User-agent: *\nDisallow: /\nUser-agent: ragctx\nDisallow:", yes: "/a"},
		"not a longer name": {text: "User-agent: ragctxbot\nDisallow: /", yes: "/a"},
		"groups merge":      {text: "User-agent: ragctx\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: ragctx\nDisallow: /c", yes: "/b", no: "/a /c"},
		"shared group":      {text: "User-agent: x\nUser-agent: ragctx\nDisallow: /a", no: "/a"},
		"the longest wins":  {text: "User-agent: *\nDisallow: /a\nAllow: /a/b", yes: "/a/b /a/bc", no: "/a /a/c"},
		"allow wins a tie":  {text: "User-agent: *\nDisallow: /a\nAllow: /a", yes: "/a"},
		"stars": {
			text: "User-agent: *\nDisallow: /*.php$\nDisallow: /*?x=", yes: "/a.php5 /a?y=x",
			no: "/a.php /d/b.php /a?x=1",
		},
		"escapes": {
			text: "User-agent: *\nDisallow: /caf\u00e9\nDisallow: /a%2fb\nDisallow: /%7ejoe",
			yes:  "/a/b", no: "/caf%c3%a9 /a%2Fb /~joe",
		},
		"comments, case, CR":  {text: "\ufeffUSER-AGENT: * # all\r\nDISALLOW: /a # b\rAllow : /a/x\n", yes: "/b /a/x", no: "/a"},
		"robots.txt itself":   {text: "User-agent: *\nDisallow: /", yes: "/robots.txt", no: "/"},
		"rules of no one":     {text: "Disallow: /", yes: "/"},
		"delay":               {text: "User-agent: *\nCrawl-delay: 1.5\nDisallow: /a", delay: 1500 * time.Millisecond, no: "/a"},
		"a long delay":        {text: "User-agent: *\nCrawl-delay: 86400", delay: maxDelay},
		"sitemaps":            {text: "Sitemap: https://a.example/s.xml\nUser-agent: *\nSitemap: /t.xml\nDisallow: /a", no: "/a", sitemapped: 2},
		"what is not a line":  {text: "<html>\nnothing\n\x00\xff:", yes: "/"},
		"a percent by itself": {text: "User-agent: *\nDisallow: /100%", no: "/100% /100%zz"},
	} {
		r := parseRobots([]byte(c.text))
		for path := range strings.FieldsSeq(c.yes) {
			if !r.allows(path) {
				t.Errorf("%s: %s is forbidden", name, path)
			}
		}
		for path := range strings.FieldsSeq(c.no) {
			if r.allows(path) {
				t.Errorf("%s: %s is allowed", name, path)
			}
		}
		if r.delay != c.delay || len(r.sitemaps) != c.sitemapped {
			t.Errorf("%s: delay %v, sitemaps %v", name, r.delay, r.sitemaps)
		}
	}
}

// TestMatches compares with regular expressions.
func TestMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab/*]{0,8}\$?`).Draw(t, "pattern")
		path := rapid.StringMatching(`[ab/]{0,10}`).Draw(t, "path")
		expr := `^` + strings.ReplaceAll(strings.TrimSuffix(pattern, "$"), "*", ".*")
		if strings.HasSuffix(pattern, "$") {
			expr += "$"
		}
		if got, want := matches(pattern, path), regexp.MustCompile(expr).MatchString(path); got != want {
			t.Fatalf("matches(%q, %q) = %v", pattern, path, got)
		}
	})
}

func FuzzRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*a*b$\nAllow: /%41\nCrawl-delay: 1e300\nSitemap: x"), "/a?b")
	f.Add([]byte("user-agent:ragctx\nDisallow:*\n"), "%")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		r := parseRobots(text)
		if r.delay < 0 || r.delay > maxDelay {
			t.Errorf("delay %v", r.delay)
		}
		r.allows(path)
		if n := normalize(path); n != normalize(n) {
			t.Errorf("normal(%q) = %q, and then %q", path, n, normalize(n))
		}
	})
}
