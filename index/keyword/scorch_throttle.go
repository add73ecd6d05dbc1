package keyword

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v16"

	"github.com/ragctx/ragctx/internal/throttle"
)

// Scorch merges in a goroutine of its own, using a registered segment plugin. This plugin is
// scorch's own, but it yields to foreground requests while building and merging segments.

func init() { //nolint:gochecknoinits // scorch's registry may only be written before it is used
	scorch.RegisterSegmentPlugin(throttledPlugin{&zap.ZapPlugin{}}, true)
}

type throttledPlugin struct{ scorch.SegmentPlugin }

// Merge implements [scorch.SegmentPlugin].
func (g throttledPlugin) Merge(
	segments []scorchsegment.Segment, drops []*roaring.Bitmap, path string, closed chan struct{}, to scorchsegment.StatsReporter,
) (numbers [][]uint64, size uint64, err error) {
	throttle.Background(func() {
		numbers, size, err = g.SegmentPlugin.Merge(segments, drops, path, closed, &throttledReporter{StatsReporter: to})
	})
	return numbers, size, err
}

// New implements [scorch.SegmentPlugin]. It builds the segment of a batch, which only a flush waits
// for.
func (g throttledPlugin) New(documents []bleveindex.Document) (made scorchsegment.Segment, size uint64, err error) {
	throttle.Background(func() { made, size, err = g.SegmentPlugin.New(documents) })
	return made, size, err
}

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
