package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ragctx/ragctx"
)

// DefaultBodyMemory is the default of [Options].BodyMemory.
const DefaultBodyMemory = 1 << 30

// smallBody is the longest small body. Small bodies have memory of their own, so large ones never
// delay them.
const smallBody = 256 << 10

// tinyBody is the longest body without a reservation: any connection takes as much. Queries of this
// size are answered whatever memory other bodies use.
const tinyBody = 4 << 10

const (
	smallShare     = 4 // a quarter of the memory is reserved for small bodies
	bodyPatience   = 2 * time.Second
	bodyRetryDelay = 5 * time.Second // retry hint for a refused large body
)

// bodyFactors are the maximum bytes of memory per byte of the body, by operation. They were
// measured with bodies of 16 MB: live memory plus a third that is not yet collected.
var bodyFactors = map[string]int64{
	"compile": 9, "create-session": 8, "append-session-messages": 8, "put-session-section": 8, importSession: 8,
	"complete-turn": 10, "mem0-add": 10, "mem0-add-v3": 10,
	"put-document": 9, "post-document": 9, putDocuments: 12, // both indexes included
	"append-messages": 8,
}

// otherBodyFactor is the factor of all other operations.
const otherBodyFactor = 6

// bodyMemory limits the memory of all request bodies that are being answered.
type bodyMemory struct {
	maxLarge     int64 // limit of one large body
	small, large *semaphore.Weighted
	patience     time.Duration // how long a body waits for memory
	began        func() (done func())
	refused      atomic.Uint64
}

func newBodyMemory(bytes int64, began func() (done func())) *bodyMemory {
	large := bytes - bytes/smallShare
	if began == nil {
		began = func() func() { return func() {} }
	}
	return &bodyMemory{
		began: began, maxLarge: large, small: semaphore.NewWeighted(bytes / smallShare),
		large: semaphore.NewWeighted(large), patience: bodyPatience,
	}
}

// reservation is the memory that a body holds of a [bodyMemory]. It grows while a body of
// undeclared length is read.
type reservation struct {
	of     *bodyMemory
	factor int64
	held   int64
	from   *semaphore.Weighted // source of held; nil for none
	done   func()              // called on release; nil for a small body
}

func (m *bodyMemory) reserve(operation string) *reservation {
	f, ok := bodyFactors[operation]
	if !ok {
		f = otherBodyFactor
	}
	return &reservation{of: m, factor: f}
}

// grow extends the reservation to a body of size bytes, or returns why it cannot.
func (r *reservation) grow(ctx context.Context, size int64) error {
	if size <= tinyBody {
		return nil
	}
	from, n := r.of.small, r.factor*size
	if size > smallBody {
		from = r.of.large
		if n > r.of.maxLarge {
			return ragctx.TooLarge("body", "takes more memory than this server has for it; send at most %d bytes, or give "+
				"the server more memory (GOMEMLIMIT, or the limit of its container)", r.of.maxLarge/r.factor)
		}
	}
	if from != r.from {
		r.release()
	}
	if n <= r.held {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, r.of.patience)
	defer cancel()
	if from.Acquire(waiting, n-r.held) != nil {
		r.of.refused.Add(1)
		return busy(http.StatusServiceUnavailable, bodyRetryDelay, "other requests use up the memory for bodies")
	}
	r.from, r.held = from, n
	if r.done == nil && size > smallBody {
		r.done = r.of.began()
	}
	return nil
}

// release returns the memory.
func (r *reservation) release() {
	if r.done != nil {
		r.done()
		r.done = nil
	}
	if r.from != nil {
		r.from.Release(r.held)
		r.from, r.held = nil, 0
	}
}

// readReserved reads a body of at most limit bytes. It reserves memory in r before the bytes
// arrive: all at once for a large body, which is thus refused before it is sent, otherwise by
// doubling, so that an idle client holds nothing. A negative declared length is unknown.
func readReserved(ctx context.Context, r *reservation, body io.Reader, declared, limit int64) ([]byte, error) {
	if declared >= 0 {
		limit = declared
	}
	size := min(tinyBody, limit)
	if declared > smallBody {
		size = declared
	}
	for b := []byte(nil); ; size = r.next(size, limit) {
		if err := r.grow(ctx, size); err != nil {
			return nil, err
		}
		b = slices.Grow(b, int(size)+1-len(b)) // with room to detect the end
		for int64(len(b)) <= size {
			n, err := body.Read(b[len(b) : size+1])
			b = b[:len(b)+n]
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return b, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// next returns the size to reserve after size bytes, at most limit.
func (r *reservation) next(size, limit int64) int64 {
	if most := r.of.maxLarge / r.factor; size < most {
		limit = min(limit, most)
	}
	return min(2*size, limit)
}

// reservedReader reserves memory for all bytes that its caller retains.
type reservedReader struct {
	ctx  context.Context //nolint:containedctx // of the body's request
	r    io.Reader
	held *reservation
	read int64
}

// reserveStep is the granularity of reservations.
const reserveStep = 1 << 20

// Read implements [io.Reader].
func (r *reservedReader) Read(p []byte) (int, error) {
	if err := r.held.grow(r.ctx, r.read/reserveStep*reserveStep+reserveStep); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p[:min(len(p), reserveStep)])
	r.read += int64(n)
	return n, err
}
