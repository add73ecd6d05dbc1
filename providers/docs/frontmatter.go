package docs

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// maxFrontMatter is the limit of front matter in bytes.
const maxFrontMatter = 64 << 10

// frontMatter is the header of a Markdown file.
type frontMatter struct {
	title, description string
	tags               []string
	metadata           map[string]any // the other scalars, as text
	nested             bool           // lines belong to a table or a long text of TOML
	folded             bool           // the description continues on the next, indented lines
	end                int            // length of the header with its fences in bytes; 0 without a header
}

// parseFrontMatter reads YAML between "---" lines, TOML between "+++" lines, or JSON at the
// beginning of the text or of an HTML comment. Blank lines may precede it.
func parseFrontMatter(text string) frontMatter {
	blank := len(text[:min(len(text), maxFrontMatter)]) - len(strings.TrimLeft(text[:min(len(text), maxFrontMatter)], " \t\r\n"))
	head := text[blank:]
	var fm frontMatter
	switch {
	case strings.HasPrefix(head, "---"), strings.HasPrefix(head, "+++"):
		fm = fencedFrontMatter(head)
	case strings.HasPrefix(head, "{"), strings.HasPrefix(head, "<!--{"):
		fm = jsonFrontMatter(head)
	}
	if fm.end > 0 {
		fm.end += blank
	}
	return fm
}

// fencedFrontMatter reads "key: value", "key = value" and lists of plain strings, which titles, tags
// and metadata use. It skips everything else.
func fencedFrontMatter(text string) frontMatter {
	fence, sep := "---", ":"
	if strings.HasPrefix(text, "+++") {
		fence, sep = "+++", "="
	}
	var fm frontMatter
	at, list, known := 0, false, false
	for line := range strings.Lines(text[:min(len(text), maxFrontMatter)]) {
		first := at == 0
		at += len(line)
		trimmed := strings.TrimSpace(line)
		switch {
		case first && strings.TrimRight(line, " \t\r\n") != fence:
			return frontMatter{}
		case first:
		case trimmed == fence || trimmed == "..." && sep == ":":
			fm.end = at
			return fm
		case list && strings.HasPrefix(trimmed, "- "):
			fm.tags = append(fm.tags, unquote(trimmed[2:]))
		case !known && trimmed != "" && trimmed[0] != '#' && trimmed[0] != '[' && !strings.Contains(trimmed, sep):
			return frontMatter{} // prose after a thematic break
		case fm.folded && (trimmed == "" || line[0] == ' ' || line[0] == '\t'):
			fm.description = strings.TrimSpace(fm.description + " " + trimmed)
		case sep == "=" && strings.HasPrefix(trimmed, "["):
			fm.nested = true
		default:
			known = known || strings.Contains(trimmed, sep)
			list = fm.set(line, sep)
		}
	}
	return frontMatter{} // no closing fence: it is a thematic break, not front matter
}

// set reads an outermost "key: value" line. It reports whether a list of tags follows on the next
// lines.
func (fm *frontMatter) set(line, sep string) bool {
	key, value, ok := strings.Cut(line, sep)
	if !ok || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
		return false
	}
	value = strings.TrimSpace(value)
	fm.folded = false
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "title":
		fm.title = scalar(value)
	case "description", "summary":
		fm.description = scalar(value)
		fm.folded = sep == ":" && (strings.HasPrefix(value, ">") || strings.HasPrefix(value, "|"))
	case "tags", "keywords":
		fm.tags = append(fm.tags, inlineList(value)...)
		return value == ""
	default:
		fm.nested = fm.nested || opensBlock(value)
		if !fm.nested {
			fm.addMetadata(unquote(key), plainScalar(value))
		}
	}
	return false
}

// jsonFrontMatter reads an object. The case of its keys does not matter.
func jsonFrontMatter(text string) frontMatter {
	head, comment := strings.CutPrefix(text[:min(len(text), maxFrontMatter)], "<!--")
	var values struct {
		Title, Description, Summary string
		Subtitle                    string
		Tags, Keywords              []string
	}
	d := json.NewDecoder(strings.NewReader(head))
	if err := d.Decode(&values); err != nil {
		if _, other := errors.AsType[*json.UnmarshalTypeError](err); !other {
			return frontMatter{}
		}
	}
	end := int(d.InputOffset())
	object := head[:end]
	if comment {
		close := strings.Index(head[end:], "-->")
		if close < 0 || strings.TrimSpace(head[end:end+close]) != "" {
			return frontMatter{}
		}
		end += close + len("-->") + len("<!--")
	}
	fm := frontMatter{
		title: values.Title, description: cmp.Or(values.Description, values.Summary, values.Subtitle),
		tags: slices.Concat(values.Tags, values.Keywords), end: end,
	}
	fm.addJSON(object)
	return fm
}

// inlineList parses [a, "b"] or a, b.
func inlineList(s string) []string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = unquote(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// scalar parses a plain or quoted value. It returns "" for a block scalar: its text follows on
// the next lines.
func scalar(s string) string {
	if strings.HasPrefix(s, "|") || strings.HasPrefix(s, ">") {
		return ""
	}
	return unquote(s)
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		s = strings.ReplaceAll(s[1:n-1], `\"`, `"`)
	}
	return strings.TrimSpace(s)
}
