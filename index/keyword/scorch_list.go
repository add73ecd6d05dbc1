package keyword

import (
	"fmt"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
)

// listed returns the chunks in r's list, by ascending number. The slice is valid until the next use
// of r.
func (s *storedSegment) listed(r *termReader) ([]uint32, error) {
	only, b, err := r.bitmap()
	if err != nil {
		return nil, err
	}
	r.nums = r.nums[:0]
	if b != nil {
		r.read(b)
	}
	if only >= 0 {
		r.nums = append(r.nums, uint32(only))
	}
	if n := len(r.nums); n > 0 && int(r.nums[n-1]) >= s.cols.chunks() {
		return nil, fmt.Errorf("posting of chunk %d of %d", r.nums[n-1], s.cols.chunks())
	}
	return r.nums, nil
}

// bitmap returns the chunks in r's list, valid until the next use of r. A list of one chunk is
// returned as only; an empty list as nil and -1.
func (r *termReader) bitmap() (only int64, all *roaring.Bitmap, err error) {
	r.iter = r.list.Iterator(false, false, false, r.iter)
	bits, ok := r.iter.(scorchsegment.OptimizablePostingsIterator)
	if !ok {
		return -1, nil, fmt.Errorf("postings are a %T", r.iter)
	}
	if chunk, ok := bits.DocNum1Hit(); ok {
		return int64(min(chunk, math.MaxUint32)), nil, nil //nolint:gosec // below 2³²
	}
	return -1, bits.ActualBitmap(), nil
}

// read reads a bitmap into nums.
func (r *termReader) read(b *roaring.Bitmap) {
	n := int(b.GetCardinality()) //nolint:gosec // at most 2³² chunks
	r.nums = slices.Grow(r.nums, n)[:n]
	it := b.ManyIterator()
	for at := 0; at < n; {
		got := it.NextMany(r.nums[at:])
		if got == 0 {
			r.nums = r.nums[:at]
			return
		}
		at += got
	}
}
