package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/ragctx/ragctx/internal/store/sqlstore"
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

// What is read from the file is what SQLite has in its pages.
func TestPagesInFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ns, err := s.Namespace(t.Context(), "default", true)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 20 {
		d, c := bulk(rng, fmt.Sprint(i%7))
		d.Hash[0] = byte(i)
		if _, err := s.PutDocument(t.Context(), ns, d, "", c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.log.copyAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	size, err := s.pageSize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pages, inFile := int64(0), make([]byte, size)
	err = s.View(t.Context(), func(tx *sqlstore.Tx) error {
		for ; ; pages++ {
			var page []byte
			err := tx.QueryRowContext(t.Context(), readPage, pages+1).Scan(&page)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if n, ferr := s.log.readFile(inFile, pages*size); err != nil || ferr != nil || n != int(size) || !bytes.Equal(page, inFile) {
				return fmt.Errorf("page %d is another in the file: %w", pages+1, errors.Join(err, ferr))
			}
		}
	})
	if n, eof := s.log.readFile(inFile, pages*size); err != nil || eof != nil || n != 0 || pages < 100 {
		t.Errorf("%d pages, then %d bytes: %v, %v", pages, n, err, eof)
	}
}
