package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx/internal/store/sqlstore"
	"github.com/ragctx/ragctx/internal/throttle"
)

// clearUnused overwrites unused space in the pages of the database file. SQLite overwrites deleted cells
// (secure_delete), but not the copies of cells left behind when it splits a page.
//
// Pages with such copies are found by reading the file: reading every page through SQLite takes ten
// times as long. They are rewritten through SQLite.
func (s *Store) clearUnused(ctx context.Context) error {
	size, err := s.pageSize(ctx)
	if err == nil {
		err = s.log.copyAll(ctx) // from now on the deletions are in the file
	}
	if err != nil {
		return err
	}
	run := make([]byte, readSize)
	var dirty []int64
	var pause throttle.Throttle
	for first := int64(1); err == nil; {
		var n int
		if n, err = s.log.readFile(run, (first-1)*size); err != nil || n < int(size) {
			break
		}
		if first > maxPages {
			return fmt.Errorf("the database has more than the supported %d pages", maxPages)
		}
		dirty = append(dirty, dirtyPages(first, size, run[:n])...)
		if len(dirty) >= maxDirtyPages {
			err = s.clearPages(ctx, dirty)
			dirty = dirty[:0]
		}
		first += int64(n) / size
		pause.Yield()
		err = cmp.Or(err, ctx.Err())
	}
	if err != nil {
		return err
	}
	return s.clearPages(ctx, dirty)
}

// readSize is the number of bytes read at a time; it holds some pages of any size.
const readSize = 1 << 20

// maxDirtyPages is the number of dirty pages collected before they are cleared. They lie far apart,
// and one commit per run would make writers wait for the disk.
const maxDirtyPages = 1 << 12

func (s *Store) pageSize(ctx context.Context) (size int64, err error) {
	err = s.View(ctx, func(tx *sqlstore.Tx) error { return tx.QueryRowContext(ctx, `PRAGMA page_size`).Scan(&size) })
	return size, err
}

// dirtyPages returns the pages, numbered from first, that [clearPage] changes. It changes them in
// the buffer.
func dirtyPages(first, size int64, pages []byte) (dirty []int64) {
	for ; len(pages) >= int(size); pages = pages[size:] {
		if clearPage(first, pages[:size]) {
			dirty = append(dirty, first)
		}
		first++
	}
	return dirty
}

// clearPages clears pages in slices.
func (s *Store) clearPages(ctx context.Context, dirty []int64) (err error) {
	for len(dirty) > 0 && err == nil {
		err = s.Slice(ctx, sqlstore.Frees, sqlstore.NoNamespaces, func(ctx context.Context, tx *sqlstore.Tx, enough func(int) bool) error {
			for n := 1; len(dirty) > 0; n++ {
				if err := clearOne(ctx, tx, dirty[0]); err != nil {
					return err
				}
				if dirty = dirty[1:]; enough(n) {
					break
				}
			}
			return nil
		})
	}
	return err
}

const readPage = `SELECT data FROM sqlite_dbpage WHERE pgno = ?`

func clearOne(ctx context.Context, tx *sqlstore.Tx, no int64) error {
	var page []byte
	if err := tx.QueryRowContext(ctx, readPage, no).Scan(&page); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	}
	if !clearPage(no, page) {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, page, no)
	return err
}

// maxPages limits the pages of a file in which the first byte of a page identifies tree pages:
// other pages begin with a big-endian page number, tree pages with 2 or more.
const maxPages = 2<<24 - 1

// Layout of a tree page, after the file header on the first page; see "B-tree Pages" in SQLite's
// file format description.
const (
	fileHeader    = 100
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// clearPage zeroes the space between the cell pointers and the cells of a tree page, and its free
// blocks. It reports whether the page changed. It leaves a malformed page unchanged.
func clearPage(no int64, page []byte) (changed bool) {
	h := 0
	if no == 1 {
		h = fileHeader
	}
	if len(page) < 512 {
		return false
	}
	u16 := func(at int) int { return int(binary.BigEndian.Uint16(page[at:])) }
	header := 8
	switch page[h] {
	case interiorIndex, interiorTable:
		header = 12
	case leafIndex, leafTable:
	default:
		return false
	}
	var holes [][2]int
	from, to := h+header+2*u16(h+3), u16(h+5)
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return false
	}
	holes = append(holes, [2]int{from, to})
	for at, last := u16(h+1), to; at != 0; at = u16(at) {
		if at < last || at+4 > len(page) || at+u16(at+2) > len(page) {
			return false
		}
		holes = append(holes, [2]int{at + 4, at + u16(at+2)})
		last = at + max(4, u16(at+2))
	}
	for _, hole := range holes {
		for i := hole[0]; i < hole[1]; i++ {
			changed = changed || page[i] != 0
			page[i] = 0
		}
	}
	return changed
}
