package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// MaxAhead limits how far a timestamp may be ahead of the clock: later messages of the cluster are
// never earlier.
const MaxAhead = 24 * time.Hour

// Mode selects how messages are appended.
type Mode int

// The modes.
const (
	// Appending gives messages the clock's time, or the later time that they request.
	Appending Mode = iota
	// Importing keeps the timestamps of messages as far as they come after the cluster's newest. It
	// skips messages whose id the cluster has, and output that retention has removed, see
	// [Receipt.Covers].
	Importing
)

// Stamp sets the timestamps of messages of one cluster. Last is the cluster's newest timestamp, or
// 0; now is the clock. Both are in milliseconds.
func Stamp(messages []Message, last, now int64, mode Mode) error {
	for i := range messages {
		requested := messages[i].Timestamp
		if requested > now+MaxAhead.Milliseconds() {
			return ragctx.Invalid("timestamp",
				"is %d, more than %s ahead of the clock, which says %d; give Unix time in milliseconds, or leave "+
					"it out", requested, MaxAhead, now)
		}
		at := max(now, requested)
		if mode == Importing && requested != 0 {
			at = requested
		}
		last = max(at, last+1)
		messages[i].Timestamp = last
	}
	return nil
}

// NewID derives a message id from a unique string: from the digits of a UUID, or else from the hash
// of the string.
func NewID(unique string) string {
	digits := strings.ToLower(strings.ReplaceAll(unique, "-", ""))
	if id := idPrefix + digits; ValidID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(unique))
	return idPrefix + hex.EncodeToString(sum[:16])
}
