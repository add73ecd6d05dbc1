package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// MaxAhead is how far ahead of the clock the timestamp of a message can be: what
// follows in its cluster is never earlier.
const MaxAhead = 24 * time.Hour

// Mode says how messages are appended.
type Mode int

// The modes.
const (
	// Appending gives messages the clock's time, or a later one that they ask for.
	Appending Mode = iota
	// Importing keeps the timestamps that messages have, as far as they come after
	// the cluster's newest, and passes over messages whose id the cluster has, and
	// outputs that it would not keep, see [Receipt.Covers].
	Importing
)

// Stamp gives messages of one cluster the timestamps that follow from last, the
// newest of the cluster or 0, and from the clock. Both are in milliseconds.
func Stamp(messages []Message, last, now int64, mode Mode) error {
	for i := range messages {
		asked := messages[i].Timestamp
		if asked > now+MaxAhead.Milliseconds() {
			return ragctx.Invalid("timestamp", "is %d, more than %s ahead of the clock, which says %d; give Unix time in milliseconds, or leave it out", asked, MaxAhead, now)
		}
		at := max(now, asked)
		if mode == Importing && asked != 0 {
			at = asked
		}
		last = max(at, last+1)
		messages[i].Timestamp = last
	}
	return nil
}

// NewID makes a message id of another id that is unique: of the digits of a UUID, or
// of the hash of anything else.
func NewID(unique string) string {
	digits := strings.ToLower(strings.ReplaceAll(unique, "-", ""))
	if id := idPrefix + digits; ValidID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(unique))
	return idPrefix + hex.EncodeToString(sum[:16])
}
