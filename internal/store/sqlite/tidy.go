package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/store"
)

// tidy completes or undoes an interrupted [Restore] and removes files that crashes have left next
// to a database. The caller holds the directory's lock.
func tidy(name string) error {
	if err := settle(name); err != nil {
		return fmt.Errorf("after an interrupted restore: %w", err)
	}
	return store.RemoveUnfinished(filepath.Dir(name), filepath.Base(name)+restoring)
}

// settle handles the old database that [replaceSteps] keeps aside. If it is still in use, its log is
// moved back: without it the last writes would be lost. Afterwards both copies kept aside are
// removed.
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
				err = atomicfile.OS{}.SyncDir(filepath.Dir(name)) // before the last trace of its origin goes
			}
			if err != nil {
				return err
			}
		}
	}
	return errors.Join(ignoreGone(os.Remove(aside+"-wal")), ignoreGone(os.Remove(aside)))
}
