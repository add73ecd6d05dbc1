package passage

import (
	"fmt"
	"strconv"
	"strings"
)

// ItemID returns the citation of a passage of a document.
func ItemID(key string, version, ordinal int) string {
	return fmt.Sprintf("%s@%d#%d", key, version, ordinal)
}

// ParseItemID parses a citation from the right, because the key may contain @ and #.
func ParseItemID(id string) (key string, version, ordinal int, ok bool) {
	rest, num, found := cutLast(id, "#")
	if !found {
		return "", 0, 0, false
	}
	key, ver, found := cutLast(rest, "@")
	if !found || key == "" {
		return "", 0, 0, false
	}
	ordinal, err1 := strconv.Atoi(num)
	version, err2 := strconv.Atoi(ver)
	return key, version, ordinal, err1 == nil && err2 == nil && ordinal >= 0 && version > 0
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
