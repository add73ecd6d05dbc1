package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/store"
)

// stateSuffix is appended to the database's name for the state file: one line with the database's
// identity and its number of transactions. It is written after each durable transaction and not
// synced. So after a power loss it may be behind the database, and it is ahead only if the database
// has lost writes.
const stateSuffix = "-state"

// stateFile is the open state file. Only the writer uses it.
type stateFile struct {
	file     *os.File
	database string
	count    int64
}

// stateFormat has a fixed length, so that the line is overwritten in place.
const stateFormat = "ragctx 1 %-32.32s %020d"

// line returns the contents of the file.
func (f *stateFile) line() []byte {
	text := fmt.Appendf(nil, stateFormat, f.database, f.count)
	return fmt.Appendf(text, " %08x\n", atomicfile.Checksum(text))
}

// advance counts a durable transaction. A failure only weakens the later check.
func (f *stateFile) advance() {
	f.count++
	_, _ = f.file.WriteAt(f.line(), 0)
}

func (f *stateFile) close() error {
	if f == nil || f.file == nil {
		return nil
	}
	return ignoreClosed(f.file.Close()) // closing twice is harmless
}

// readState decodes a state file; ok is false if it is missing or incomplete.
func readState(path string) (database string, count int64, ok bool, err error) {
	b, err := os.ReadFile(path + stateSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, false, nil
	}
	if err != nil {
		return "", 0, false, err
	}
	if n, _ := fmt.Sscanf(string(b), "ragctx 1 %s %d", &database, &count); n != 2 {
		return "", 0, false, nil
	}
	f := stateFile{database: database, count: count}
	return database, count, string(f.line()) == string(b), nil
}

// checkNotLost rejects a missing or empty database file if traces of a database exist: a new database
// in its place would hide the loss.
func checkNotLost(path string) error {
	st, err := os.Stat(path)
	what := "the database file " + filepath.Base(path) + " is empty"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what = "the database file " + filepath.Base(path) + " is missing"
	case err != nil:
		return err
	case st.Size() > 0:
		return nil
	}
	for _, trace := range []string{path + stateSuffix, path + "-wal", filepath.Join(filepath.Dir(path), store.IndexName)} {
		st, err := os.Stat(trace)
		if errors.Is(err, fs.ErrNotExist) || err == nil && st.IsDir() && isEmpty(trace) {
			continue
		}
		if err != nil {
			return err
		}
		return &store.LostError{What: fmt.Sprintf("%s, and %s shows that a database existed", what, filepath.Base(trace))}
	}
	return nil
}

func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// openState compares an open database with its state file and opens the file for writing.
func openState(ctx context.Context, db *sql.DB, path string, accept bool) (*stateFile, error) {
	f := new(stateFile)
	err := db.QueryRowContext(ctx, `SELECT value, coalesce((SELECT sum FROM sums WHERE bucket = 0 AND tab = ''), 0)
		FROM settings WHERE key = 'database'`).Scan(&f.database, &f.count)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", wrap(err))
	}
	database, count, ok, err := readState(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open store: %w", err)
	case !ok || accept:
	case database != f.database:
		return nil, &store.LostError{What: "the database is not the one that was here"}
	case count > f.count:
		return nil, &store.LostError{What: fmt.Sprintf("the database and its log have %d transactions of %d; "+
			"an older copy took its place, or the log (%s-wal) was cut off or lost",
			f.count, count, filepath.Base(path))}
	}
	if f.file, err = os.OpenFile(path+stateSuffix, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	line := f.line()
	if err := inOrder(
		func() error { _, err := f.file.WriteAt(line, 0); return err },
		func() error { return f.file.Truncate(int64(len(line))) },
	); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", store.DiskError(err)), f.file.Close())
	}
	return f, nil
}
