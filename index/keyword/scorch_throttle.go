package keyword

import (
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"

	"github.com/ragctx/ragctx/internal/throttle"
)

// throttledReporter yields as bytes are written.
type throttledReporter struct {
	scorchsegment.StatsReporter // may be nil, as for scorch's builder

	throttle.Throttle

	written uint64 // bytes since the last Yield
}

// yieldEvery is the number of bytes between calls of Yield, because most writes are small.
const yieldEvery = 1 << 10

// ReportBytesWritten implements [scorchsegment.StatsReporter].
func (b *throttledReporter) ReportBytesWritten(n uint64) {
	if b.written += n; b.written >= yieldEvery {
		b.written = 0
		b.Yield()
	}
	if b.StatsReporter != nil {
		b.StatsReporter.ReportBytesWritten(n)
	}
}
