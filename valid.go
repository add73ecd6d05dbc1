package ragctx

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// ValidName checks an identifier chosen by a caller. It must be valid UTF-8 without NUL and at most
// [MaxNameBytes] long. Empty is valid.
func ValidName(field, s string) error {
	if len(s) > MaxNameBytes {
		return Invalid(field, "is %d bytes long; the limit is %d", len(s), MaxNameBytes)
	}
	return ValidText(field, s)
}

// ValidText checks that s is valid UTF-8 without NUL bytes.
func ValidText(field, s string) error {
	if !utf8.ValidString(s) {
		return Invalid(field, "is not valid UTF-8; convert the text before sending it")
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return Invalid(field, "has a NUL byte at offset %d; remove it", i)
	}
	return nil
}

// ValidTime checks that t, in UTC, has a four-digit year, as RFC 3339 requires. The zero time is
// valid.
func ValidTime(field string, t time.Time) error {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return Invalid(field, "is in the year %d; use 1 to 9999", y)
	}
	return nil
}

// ValidMetadata checks that metadata can be stored: its keys are valid, and its values are JSON of
// at most limit bytes.
func ValidMetadata(field string, m map[string]any, limit int) error {
	for k := range m {
		if k == "" {
			return Invalid(field, "has an empty key; name it")
		}
		if err := ValidName(field+"."+Clip(k), k); err != nil {
			return err
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return Invalid(field, "cannot be written as JSON: %v", err)
	}
	if len(b) > limit {
		return Invalid(field, "is %d bytes of JSON; the limit is %d", len(b), limit)
	}
	if bytes.Contains(b, []byte(`\u0000`)) {
		return Invalid(field, "has a NUL character; remove it")
	}
	return nil
}

// Clip shortens s for an error message to at most 60 characters, without line breaks.
func Clip(s string) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) > 60 {
		r = append(r[:57], '.', '.', '.')
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' {
			return ' '
		}
		return c
	}, string(r))
}
