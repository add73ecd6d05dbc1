package docs

import (
	"path"
	"regexp"
	"strings"

	"github.com/ragctx/ragctx"
)

const maxGlobBytes = 1024

// globs is a list of patterns for slash-separated relative paths.
type globs struct {
	paths []*regexp.Regexp // patterns with a slash, for the whole path
	names []*regexp.Regexp // other patterns, for the last element
}

// compileGlobs compiles the patterns of an option named field. "*" and "?" match within a path
// element, "**" matches any number of elements, "[a-z]" one of a set, and "{a,b}" alternatives. A
// pattern without a slash matches the last element at any depth. A pattern that ends with a slash
// matches everything below.
func compileGlobs(field string, patterns []string) (globs, error) {
	var g globs
	for _, p := range patterns {
		body := strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
		if strings.HasSuffix(body, "/") {
			body += "**"
		}
		expr, problem := globExpr(body, true)
		if problem == "" && body == "" {
			problem = "is empty"
		}
		if problem != "" {
			return globs{}, ragctx.Invalid(field, "pattern %q %s; use patterns such as **/*.md", ragctx.Clip(p), problem)
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return globs{}, ragctx.Invalid(field, "pattern %q is not a pattern; use patterns such as **/*.md", ragctx.Clip(p))
		}
		if strings.Contains(p, "/") {
			g.paths = append(g.paths, re)
		} else {
			g.names = append(g.names, re)
		}
	}
	return g, nil
}

// match reports whether any pattern matches a relative path.
func (g globs) match(rel string) bool {
	name := path.Base(rel)
	for _, re := range g.names {
		if re.MatchString(name) {
			return true
		}
	}
	for _, re := range g.paths {
		if re.MatchString(rel) {
			return true
		}
	}
	return false
}

// matchDir reports whether a pattern matches a directory or everything in it.
func (g globs) matchDir(rel string) bool {
	if g.match(rel) {
		return true
	}
	for _, re := range g.paths {
		if re.MatchString(rel+"/") && re.MatchString(rel+"/a/b") {
			return true
		}
	}
	return false
}

// globExpr translates a pattern into a regular expression, or describes the error in it. Such
// regular expressions match in linear time.
func globExpr(p string, braces bool) (expr, problem string) {
	if len(p) > maxGlobBytes {
		return "", "is too long"
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	depth := 0 // nesting of braces
	for i := 0; i < len(p); {
		n, out := 1, ""
		switch c := p[i]; {
		case c == '{' && braces:
			depth++
			out = `(?:`
		case c == '}' && depth > 0:
			depth--
			out = `)`
		case c == ',' && depth > 0:
			out = `|`
		default:
			if n, out, problem = globToken(p[i:], i == 0 || p[i-1] == '/'); problem != "" {
				return "", problem
			}
		}
		b.WriteString(out)
		i += n
	}
	if depth > 0 {
		return "", "has a { without its }"
	}
	b.WriteString(`$`)
	return b.String(), ""
}

// globToken translates the first token of a pattern. first says that the token begins a path
// element.
func globToken(p string, first bool) (n int, expr, problem string) {
	switch {
	case first && strings.HasPrefix(p, "**/"):
		return 3, `(?:.*/)?`, ""
	case first && p == "**":
		return 2, `.*`, ""
	case p[0] == '*':
		return len(p) - len(strings.TrimLeft(p, "*")), `[^/]*`, ""
	case p[0] == '?':
		return 1, `[^/]`, ""
	case p[0] == '[':
		if n, expr = globClass(p); n == 0 {
			return 0, "", "has a [ without its ]"
		}
		return n, expr, ""
	case p[0] == '\\':
		if len(p) == 1 {
			return 0, "", "ends with a backslash"
		}
		return 2, regexp.QuoteMeta(p[1:2]), ""
	}
	return 1, regexp.QuoteMeta(p[:1]), ""
}

// globClass translates a set such as [a-z] or [!a] at the beginning of s.
func globClass(s string) (int, string) {
	from := 1
	if len(s) > 1 && (s[1] == '!' || s[1] == '^') {
		from = 2
	}
	end := -1
	if len(s) > from+1 {
		end = strings.IndexByte(s[from+1:], ']')
	}
	if end < 0 {
		return 0, ""
	}
	end += from + 1
	body := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(s[from:end])
	if from == 2 {
		return end + 1, `[^/` + body + `]`
	}
	return end + 1, `[` + body + `]`
}
