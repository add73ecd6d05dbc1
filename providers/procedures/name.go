package procedures

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ragctx/ragctx"
)

// ValidName checks a procedure's name: words of lower-case letters of any script and digits,
// separated by single hyphens.
func ValidName(name string) error {
	if err := ragctx.ValidText("name", name); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(name); n > MaxNameRunes {
		return ragctx.Invalid("name", "has %d characters; the limit is %d", n, MaxNameRunes)
	}
	if name == "" || name != Slug(name) {
		return ragctx.Invalid("name", "is %q; use lower-case letters and digits in words separated by hyphens, "+
			"such as deploy-service", ragctx.Clip(name))
	}
	return nil
}

// Slug converts a text to a name; it returns "" for a text without letters and digits.
func Slug(text string) string {
	var b strings.Builder
	part := false
	n := 0
	for _, r := range norm.NFKC.String(strings.ToLower(text)) {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || unicode.IsUpper(r) {
			part = n > 0
			continue
		}
		if n++; part {
			n++
		}
		if n > MaxNameRunes {
			break
		}
		if part {
			b.WriteByte('-')
			part = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// itemPrefix begins the ids and sources of procedure items.
const itemPrefix = "procedure:"

// SourceOf returns the source of a procedure's items.
func SourceOf(name string) string { return itemPrefix + name }

// ID identifies a version of a procedure.
type ID struct {
	ragctx.ProcedureOwner

	Name    string
	Version int // 0 is the canonical version
}

// String returns the item id: procedure:NAME@VERSION, followed by the user and the agent if the
// procedure has them, each after a slash and percent-encoded.
func (i ID) String() string {
	id := itemPrefix + i.Name
	if i.Version > 0 {
		id += "@" + strconv.Itoa(i.Version)
	}
	if i.UserID != "" || i.AgentID != "" {
		id += "/" + url.PathEscape(i.UserID)
	}
	if i.AgentID != "" {
		id += "/" + url.PathEscape(i.AgentID)
	}
	return id
}

// ParseID parses an item id. Without a version it identifies the canonical one.
func ParseID(s string) (ID, error) {
	bad := fmt.Errorf("item %q: %w", ragctx.Clip(s), ragctx.ErrNotFound)
	rest, ok := strings.CutPrefix(s, itemPrefix)
	if !ok {
		return ID{}, bad
	}
	parts := strings.Split(rest, "/")
	var id ID
	name, version, versioned := strings.Cut(parts[0], "@")
	id.Name = name
	if versioned {
		n, err := strconv.Atoi(version)
		if err != nil || n < 1 || strconv.Itoa(n) != version {
			return ID{}, bad
		}
		id.Version = n
	}
	if ValidName(name) != nil || len(parts) > 3 {
		return ID{}, bad
	}
	for i, to := range []*string{&id.UserID, &id.AgentID} {
		if len(parts) <= i+1 {
			break
		}
		v, err := url.PathUnescape(parts[i+1])
		if err != nil || ragctx.ValidName("id", v) != nil {
			return ID{}, bad
		}
		*to = v
	}
	return id, nil
}

func entries(field string, list []string) error {
	if len(list) > MaxEntries {
		return ragctx.Invalid(field, "has %d entries; the limit is %d", len(list), MaxEntries)
	}
	for i, s := range list {
		if err := entry(fmt.Sprintf("%s[%d]", field, i), s, MaxEntryRunes); err != nil {
			return err
		}
	}
	return nil
}

func entry(field, s string, most int) error {
	if err := ragctx.ValidText(field, s); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(s); n > most {
		return ragctx.Invalid(field, "has %d characters; the limit is %d", n, most)
	}
	return nil
}
