package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
)

// clear overwrites what is no content in the pages of the database file. SQLite
// overwrites what is deleted (secure_delete), but not the copies of cells that it
// leaves behind when it spreads a page's cells over others.
func (s *Store) clear(ctx context.Context) error {
	var pages int64
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages)
	})
	if err == nil && pages > maxPages {
		err = fmt.Errorf("the database has %d pages, more than the %d that can be told apart", pages, maxPages)
	}
	const run = 1000
	for first := int64(1); first <= pages && err == nil; first += run {
		var dirty []int64
		err = s.view(ctx, func(tx *sql.Tx) (err error) {
			dirty, err = dirtyPages(ctx, tx, first, min(first+run-1, pages))
			return err
		})
		for len(dirty) > 0 && err == nil {
			err = s.slice(ctx, nowhere, func(ctx context.Context, tx *sql.Tx, enough func(int) bool) error {
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
	}
	return err
}

const readPage = `SELECT data FROM sqlite_dbpage WHERE pgno = ?`

// dirtyPages returns the pages first to last that [clearPage] would change.
func dirtyPages(ctx context.Context, tx *sql.Tx, first, last int64) (dirty []int64, err error) {
	get, err := tx.PrepareContext(ctx, readPage)
	if err != nil {
		return nil, err
	}
	defer get.Close()
	for no := first; no <= last; no++ {
		var page []byte
		if err := get.QueryRowContext(ctx, no).Scan(&page); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				break // the file has become shorter
			}
			return nil, err
		}
		if clearPage(no, page) {
			dirty = append(dirty, no)
		}
	}
	return dirty, nil
}

func clearOne(ctx context.Context, tx *sql.Tx, no int64) error {
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

// maxPages is how many pages a file may have for the first byte of a page to say
// whether it is one of a tree: other pages begin with the number of a page, big
// endian, and those of trees with 2 or more.
const maxPages = 2<<24 - 1

// The header of a tree's page, after the file's own on the first page; see "B-tree
// Pages" in SQLite's description of the file format.
const (
	fileHeader    = 100
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// clearPage overwrites with zeros what lies between the cell pointers and the
// cells of a tree's page, and in its free blocks. It reports whether that changed
// anything. A page that is not as it should be is left alone.
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
