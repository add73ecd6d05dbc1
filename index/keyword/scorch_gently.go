package keyword

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v16"

	"github.com/ragctx/ragctx/lull"
)

// Scorch has its own goroutine merge, by the kind of segment that it is told. Ours is
// scorch's, but rests as it writes: nobody waits for a merge.

func init() { //nolint:gochecknoinits // scorch's registry may only be written before it is used
	scorch.RegisterSegmentPlugin(gentle{&zap.ZapPlugin{}}, true)
}

type gentle struct{ scorch.SegmentPlugin }

// Merge implements [scorch.SegmentPlugin].
func (g gentle) Merge(
	segments []scorchsegment.Segment, drops []*roaring.Bitmap, path string, closed chan struct{}, to scorchsegment.StatsReporter,
) ([][]uint64, uint64, error) {
	return g.SegmentPlugin.Merge(segments, drops, path, closed, &breathing{StatsReporter: to})
}

// breathing rests when something is written.
type breathing struct {
	scorchsegment.StatsReporter // nil where nobody counts, as for scorch's builder

	lull.Lull

	written uint64 // since it last thought of a rest
}

// breathEvery is after how many bytes it thinks of a rest: most writes are of a few.
const breathEvery = 1 << 10

// ReportBytesWritten implements [scorchsegment.StatsReporter].
func (b *breathing) ReportBytesWritten(n uint64) {
	if b.written += n; b.written >= breathEvery {
		b.written = 0
		b.Breathe()
	}
	if b.StatsReporter != nil {
		b.StatsReporter.ReportBytesWritten(n)
	}
}
