package docs

import (
	"regexp"
	"strings"
)

// wholeGlobs compiles patterns that match whole paths. An invalid pattern matches nothing.
func wholeGlobs(patterns []string) globs {
	var g globs
	for _, p := range patterns {
		if re, problem := compileWhole(p); problem == "" {
			g.paths = append(g.paths, re)
		}
	}
	return g
}

// compileWhole compiles a pattern, or describes the error in it.
func compileWhole(p string) (*regexp.Regexp, string) {
	expr, problem := wholeExpr(p)
	if problem != "" {
		return nil, problem
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, "has an invalid set"
	}
	return re, ""
}

// wholeExpr translates a pattern for whole paths into a regular expression, or describes the error
// in it. "*" and "?" match slashes as well, "**" alone between slashes matches any number of
// directories, "[a-z]" one of a set, "[!a]" one outside a set. Other characters match themselves.
func wholeExpr(p string) (expr, problem string) {
	if len(p) > maxGlobBytes {
		return "", "is too long"
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(p); {
		n, out := 1, ""
		stars := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
		switch {
		case stars == 1:
			out = `.*`
		case stars == 2:
			after := p[i+2:]
			if i > 0 && p[i-1] != '/' || after != "" && after[0] != '/' {
				return "", "has a ** that does not stand alone between slashes"
			}
			if n, out = 2, `.*`; after != "" {
				n, out = 3, `(?:.*/)?`
			}
		case stars > 2:
			return "", "has more than two stars in a row"
		case p[i] == '?':
			out = `.`
		case p[i] == '[':
			if n, out = wholeClass(p[i:]); n == 0 {
				return "", "has a [ without its ]"
			}
		default:
			out = regexp.QuoteMeta(p[i : i+1])
		}
		b.WriteString(out)
		i += n
	}
	b.WriteString(`$`)
	return b.String(), ""
}

// wholeClass translates a set at the beginning of s. A "]" in the first position belongs to the
// set.
func wholeClass(s string) (int, string) {
	from, open := 1, `[`
	if strings.HasPrefix(s, "[!") {
		from, open = 2, `[^`
	}
	if len(s) <= from {
		return 0, ""
	}
	end := strings.IndexByte(s[from+1:], ']')
	if end < 0 {
		return 0, ""
	}
	end += from + 1
	body := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(s[from:end])
	return end + 1, open + body + `]`
}
