package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// SpoolPrefix begins the names of the files that snapshots wait in for slow readers.
// Earlier versions made them in folders of such names.
const SpoolPrefix = ".ragctx-snapshot-"

// tidy brings an interrupted [Restore] to its end, or undoes it, and removes what
// crashes have left beside a database: files of a whole database's size, with
// everything that has been erased since. The caller holds the directory's lock.
func tidy(name string) error {
	if err := settle(name); err != nil {
		return fmt.Errorf("after an interrupted restore: %w", err)
	}
	dir := filepath.Dir(name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(name)+restoring) || strings.HasPrefix(e.Name(), SpoolPrefix) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("remove what was interrupted: %w", err)
			}
		}
	}
	return nil
}

// settle deals with the old database that [replacing] keeps aside. As long as it
// is the one in use, its log belongs to it: without its log it would lack what was
// written last. Afterwards both go.
func settle(name string) error {
	aside := name + replaced
	old, err := os.Stat(aside)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		used, err := os.Stat(name)
		if err != nil {
			return err
		}
		if os.SameFile(old, used) {
			err := ignoreGone(os.Rename(aside+"-wal", name+"-wal"))
			if err == nil {
				err = atomicfile.OS{}.SyncDir(filepath.Dir(name)) // before the last trace of where it belongs goes
			}
			if err != nil {
				return err
			}
		}
	}
	return errors.Join(ignoreGone(os.Remove(aside+"-wal")), ignoreGone(os.Remove(aside)))
}
