package store

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// leaf builds a page with two cells, a free block between them, and remnants of
// text wherever nothing is.
func leaf(h int) []byte {
	page := bytes.Repeat([]byte("x"), 4096)
	page[h] = leafTable
	put := func(at, v int) { binary.BigEndian.PutUint16(page[at:], uint16(v)) }
	put(h+1, 4000) // first free block
	put(h+3, 2)    // cells
	put(h+5, 3900) // where cells begin
	page[h+7] = 0
	put(h+8, 3900)
	put(h+10, 4050)
	put(4000, 0)
	put(4002, 50)
	return page
}

func TestClearPage(t *testing.T) {
	for no, h := range map[int64]int{1: fileHeader, 7: 0} {
		page := leaf(h)
		want := bytes.Clone(page)
		clear(want[h+12 : 3900])
		clear(want[4004:4050])
		if !clearPage(no, page) || !bytes.Equal(page, want) {
			t.Errorf("page %d is not cleared as it should be", no)
		}
		if clearPage(no, page) {
			t.Errorf("page %d changes when it is cleared again", no)
		}
	}
}

func FuzzClearPage(f *testing.F) {
	f.Add(int64(1), leaf(fileHeader))
	f.Add(int64(2), leaf(0))
	f.Fuzz(func(t *testing.T, no int64, page []byte) {
		once := bytes.Clone(page)
		changed := clearPage(no, once)
		if changed == bytes.Equal(once, page) {
			t.Error("what it reports is not what it did")
		}
		if clearPage(no, bytes.Clone(once)) {
			t.Error("clearing again changes something")
		}
	})
}
