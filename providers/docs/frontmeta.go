package docs

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ragctx/ragctx"
)

// Limits of the metadata that front matter adds to a document. A value beyond them is left out.
const (
	maxFrontKeys  = 32
	maxFrontKey   = 64  // bytes
	maxFrontValue = 256 // bytes
)

// reserved are keys of front matter that become no metadata: those that are read as other fields, and
// those that answers set. A file must not be able to change its citation or its provenance.
var reserved = []string{
	"title", "description", "summary", "subtitle", "tags", "keywords",
	"document", "heading", "lines", "page", "hidden_characters", "format", "charset", "openai",
}

// addMetadata adds a scalar of front matter to the metadata.
func (fm *frontMatter) addMetadata(key, value string) {
	switch {
	case value == "" || len(value) > maxFrontValue || len(fm.metadata) >= maxFrontKeys || !isFrontKey(key):
	case strings.ContainsFunc(value, unicode.IsControl) || ragctx.ValidText("metadata", value) != nil:
	default:
		if fm.metadata == nil {
			fm.metadata = make(map[string]any)
		}
		fm.metadata[key] = value
	}
}

// isFrontKey reports whether a key is a name of letters, digits, "_" and "-" that is not reserved.
func isFrontKey(key string) bool {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' }
	return key != "" && len(key) <= maxFrontKey && !strings.ContainsFunc(key, other) && !slices.Contains(reserved, strings.ToLower(key))
}

// plainScalar returns the text of a YAML or TOML scalar, without quotation marks or a comment behind
// it. It returns "" for lists, maps, references, blocks, null, and texts of several lines.
func plainScalar(value string) string {
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		return quotedScalar(value)
	}
	value, _, _ = strings.Cut(" "+value, " #")
	value = strings.TrimSpace(value)
	if value == "" || value == "~" || value == "null" || strings.ContainsRune("[{&*!|>", rune(value[0])) {
		return ""
	}
	return value
}

// quotedScalar returns the text of a scalar in quotation marks, or "" if more than a comment follows it.
func quotedScalar(value string) string {
	mark := value[0]
	var text strings.Builder
	for i := 1; i < len(value); i++ {
		next := byte(0)
		if i+1 < len(value) {
			next = value[i+1]
		}
		switch c := value[i]; {
		case c == '\\' && mark == '"' && (next == '"' || next == '\\'), c == mark && mark == '\'' && next == mark:
			i++
			text.WriteByte(next)
		case c == mark:
			if rest := strings.TrimSpace(value[i+1:]); rest != "" && rest[0] != '#' {
				return ""
			}
			return strings.TrimSpace(text.String())
		default:
			text.WriteByte(c)
		}
	}
	return ""
}

// opensBlock reports whether a value of TOML is the beginning of a text of several lines.
func opensBlock(value string) bool {
	for _, mark := range [...]string{`"""`, "'''"} {
		if rest, ok := strings.CutPrefix(value, mark); ok {
			return !strings.Contains(rest, mark)
		}
	}
	return false
}

// addJSON adds the scalars of an object.
func (fm *frontMatter) addJSON(object string) {
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	var values map[string]any
	if d.Decode(&values) != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch v := values[key].(type) {
		case string:
			fm.addMetadata(key, v)
		case json.Number:
			fm.addMetadata(key, v.String())
		case bool:
			fm.addMetadata(key, strconv.FormatBool(v))
		}
	}
}

// mergeMetadata adds the metadata found in the text to the given one, which overrides equal keys. It
// returns the given one if both exceed the limit.
func mergeMetadata(given, found map[string]any) map[string]any {
	if len(found) == 0 {
		return given
	}
	all := maps.Clone(found)
	maps.Copy(all, given)
	if ragctx.ValidMetadata("metadata", all, MaxMetadataBytes) != nil {
		return given
	}
	return all
}
