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

// DefaultBodyMemory is what request bodies may take together unless [Options] says otherwise.
const DefaultBodyMemory = 1 << 30

// smallBody is the longest body that is counted among the small ones, which have memory
// of their own: large bodies never keep them waiting.
const smallBody = 256 << 10

// tinyBody is the longest body that needs no reservation: any connection takes as much. A
// question is answered whatever the bodies of others do.
const tinyBody = 4 << 10

const (
	smallShare   = 4 // one part in four of the memory is for small bodies
	bodyPatience = 2 * time.Second
	bodyAgain    = 5 * time.Second // after which a refused large body may find room
)

// bodyFactors say how many bytes of memory a request takes at most for each byte of its
// body, by operation, as measured with bodies of 16 MB: what is live, and a third more that
// is not collected yet.
var bodyFactors = map[string]int64{
	"compile": 9, "create-session": 8, "append-session-messages": 8, "put-session-section": 8, importSession: 8,
	"complete-turn": 10, "mem0-add": 10, "mem0-add-v3": 10,
	"put-document": 9, putDocuments: 12, // with what both indexes take of them
	"append-messages": 8,
}

// otherBodyFactor is that of operations that bodyFactors does not name.
const otherBodyFactor = 6

// bodyMemory is the memory that request bodies may take together while they are answered.
type bodyMemory struct {
	most         int64 // that one large body may take
	small, large *semaphore.Weighted
	patience     time.Duration // of a body, until others have gone
	began        func() (done func())
	refused      atomic.Uint64
}

func newBodyMemory(bytes int64, began func() (done func())) *bodyMemory {
	large := bytes - bytes/smallShare
	if began == nil {
		began = func() func() { return func() {} }
	}
	return &bodyMemory{began: began, most: large, small: semaphore.NewWeighted(bytes / smallShare), large: semaphore.NewWeighted(large), patience: bodyPatience}
}

// reservation is the memory that one body has of a [bodyMemory]. It grows while a body is
// read whose length was not declared.
type reservation struct {
	of     *bodyMemory
	factor int64
	held   int64
	from   *semaphore.Weighted // of which held is; nil is none
	done   func()              // is called when it is given back; nil for a small body
}

func (m *bodyMemory) reserve(operation string) *reservation {
	f, ok := bodyFactors[operation]
	if !ok {
		f = otherBodyFactor
	}
	return &reservation{of: m, factor: f}
}

// grow reserves memory for a body of at least size bytes, or says why it cannot have it.
func (r *reservation) grow(ctx context.Context, size int64) error {
	if size <= tinyBody {
		return nil
	}
	from, n := r.of.small, r.factor*size
	if size > smallBody {
		from = r.of.large
		if n > r.of.most {
			return ragctx.TooLarge("body", "takes more memory than this server has for it; send at most %d bytes, or give the server more memory (GOMEMLIMIT, or the limit of its container)", r.of.most/r.factor)
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
		return busy(http.StatusServiceUnavailable, bodyAgain, "other requests use up the memory for bodies")
	}
	r.from, r.held = from, n
	if r.done == nil && size > smallBody {
		r.done = r.of.began()
	}
	return nil
}

// release gives the memory back.
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

// readReserved reads all of a body of at most limit bytes, for which r reserves memory
// before it arrives: for a large one all at once, so that it is refused before it is sent,
// and else as much again as has come, so that who sends nothing holds nothing. A declared
// length below 0 is not known.
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
		b = slices.Grow(b, int(size)+1-len(b)) // with room to find the end
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

// next returns for how much to reserve memory once size bytes have come and there are more,
// of at most limit.
func (r *reservation) next(size, limit int64) int64 {
	if most := r.of.most / r.factor; size < most {
		limit = min(limit, most)
	}
	return min(2*size, limit)
}

// reservedReader reserves memory for all that is read of a body that is kept whole.
type reservedReader struct {
	ctx  context.Context //nolint:containedctx // of the request whose body it is
	r    io.Reader
	held *reservation
	read int64
}

// reserveStep is how much is reserved at a time.
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
